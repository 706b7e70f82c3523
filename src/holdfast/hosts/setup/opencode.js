// SIGN. OpenCode has no hooks: this plugin hands its events to Holdfast's hook file and passes on what it answers.
// It never throws and never waits longer than a hook may take.
import { spawn } from "node:child_process"

const COMMAND = "COMMAND"
const ARGUMENTS = "ARGUMENTS"
const MILLISECONDS = 5000

function ask(event, given) {
  return new Promise((answered) => {
    let said = ""
    try {
      const payload = JSON.stringify({ hook_event_name: event, ...given })
      const [program, ...words] = COMMAND
      const child = spawn(program, [...words, event, ...ARGUMENTS], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      const late = setTimeout(() => child.kill(), MILLISECONDS)
      child.stdout.on("data", (piece) => (said += piece))
      child.stdin.on("error", () => {})
      child.on("error", () => answered(""))
      child.on("close", () => {
        clearTimeout(late)
        answered(contextOf(said))
      })
      child.stdin.end(payload)
    } catch {
      answered("")
    }
  })
}

function contextOf(said) {
  try {
    const answer = JSON.parse(said)
    return answer.hookSpecificOutput?.additionalContext ?? answer.additionalContext ?? ""
  } catch {
    return ""
  }
}

export const Holdfast = async ({ directory }) => {
  const started = new Map() // session: what its start, or its latest prompt, brought
  const warnings = new Map() // tool call: what was said before it
  const said = new Map() // session: the last text of its model
  const children = new Map() // session of a sub-agent: the session that sent it, and its kind

  function about(session) {
    const child = children.get(session)
    return child ? { session_id: child.parent, agent_type: child.kind, cwd: directory } : { session_id: session, cwd: directory }
  }

  function adopt(session, parent, kind) {
    children.set(session, { parent: children.get(parent)?.parent ?? parent, kind })
  }

  async function begin(session, source = "startup") {
    if (!session || (started.has(session) && source === "startup")) return
    started.set(session, { brief: "", prompt: "" })
    const coming = ask(children.has(session) ? "SubagentStart" : "SessionStart", { ...about(session), source })
    started.get(session).coming = coming
    started.get(session).brief = await coming
  }

  const handlers = {
    event: async ({ event }) => {
      const info = event.properties?.info
      const session = info?.id ?? event.properties?.sessionID
      if (event.type === "session.created") {
        if (info?.parentID) adopt(session, info.parentID, /@(\S+) subagent/.exec(info.title ?? "")?.[1] ?? "sub-agent")
        await begin(session)
      }
      if (event.type === "session.compacted") await begin(session, "compact")
      if (event.type === "session.idle") {
        const last = { ...about(session), last_assistant_message: said.get(session) ?? "" }
        await ask(children.has(session) ? "SubagentStop" : "Stop", last)
      }
      if (event.type === "session.deleted") {
        await ask("SessionEnd", about(session))
        for (const kept of [started, said, children]) kept.delete(session)
      }
    },
    "chat.message": async (input, output) => {
      await begin(input.sessionID)
      if (children.has(input.sessionID)) return // asked by another agent, not by a person
      const prompt = (output.parts ?? []).map((part) => part.text).filter(Boolean).join("\n")
      started.get(input.sessionID).prompt = await ask("UserPromptSubmit", { ...about(input.sessionID), prompt })
    },
    "experimental.chat.system.transform": async (input, output) => {
      const known = started.get(input.sessionID) ?? [...started.values()].at(-1)
      await known?.coming
      for (const text of known ? [known.brief, known.prompt] : []) if (text) output.system.push(text)
    },
    "experimental.text.complete": async (input, output) => {
      said.set(input.sessionID, output.text)
    },
    "tool.execute.before": async (input, output) => {
      const given = { ...about(input.sessionID), tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID }
      const warning = await ask("PreToolUse", given)
      if (warning) warnings.set(input.callID, warning)
    },
    "tool.execute.after": async (input, output) => {
      const given = { ...about(input.sessionID), tool_name: input.tool, tool_input: input.args, tool_use_id: input.callID }
      const text = String(output.output ?? "").slice(0, 20000)
      const exit_code = output.metadata?.exit
      const heard = await ask("PostToolUse", { ...given, tool_response: exit_code ? { output: text, exit_code } : text })
      const parts = [warnings.get(input.callID), heard].filter(Boolean)
      warnings.delete(input.callID)
      if (parts.length && typeof output.output === "string") output.output += "\n\n" + parts.join("\n\n")
    },
    "experimental.session.compacting": async (input, output) => {
      const said = await ask("PreCompact", { ...about(input.sessionID), trigger: "auto" })
      if (said) output.context.push(said)
    },
  }
  const quiet = (handler) => async (...given) => handler(...given).catch(() => {})
  return Object.fromEntries(Object.entries(handlers).map(([name, handler]) => [name, quiet(handler)]))
}
