// Every handler of the plugin gets every hostile text in every place, and shapes that OpenCode never sends.
const { Holdfast } = await import(process.argv[2])
const texts = JSON.parse(process.argv[3])
const circular = {}; circular.self = circular
const shapes = [undefined, null, 5, [], {}, { parts: [null, { text: 7 }] }, { args: circular }, { args: { n: 5n } }]
let failed = 0
for (const text of texts) {
  const plugin = await Holdfast({ directory: text })
  const input = { sessionID: text, callID: text, tool: text, args: { command: text, [text]: text } }
  const output = { args: input.args, output: text, text, parts: [{ text }], system: [], context: [], metadata: { exit: text } }
  const info = { id: text, parentID: text, title: `@${text} subagent` }
  for (const type of ["session.created", "session.idle", "session.deleted"])
    await plugin.event({ event: { type, properties: { info } } }).catch(() => failed++)
  for (const [name, handler] of Object.entries(plugin)) if (name !== "event") await handler(input, output).catch(() => failed++)
}
const plugin = await Holdfast({})
for (const handler of Object.values(plugin))
  for (const shape of shapes) await handler(shape, shape).catch(() => failed++)
console.log(failed)
