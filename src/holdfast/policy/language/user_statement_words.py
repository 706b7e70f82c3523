"""Words by their role in what a user says, in seven languages: one pattern for each role, whatever the language."""

import re

from holdfast.model.patterns import lazy


def _role(latin: str, cjk: str = "") -> re.Pattern[str]:
    """Return a pattern of whole words; Chinese and Japanese have no spaces, so theirs match anywhere."""
    parts = [rf"(?<![\w'’-])(?:{latin})(?![\w-])", *([f"(?:{cjk})"] if cjk else [])]
    return lazy("|".join(parts), re.IGNORECASE)


def _start(latin: str, cjk: str = "") -> re.Pattern[str]:
    parts = [rf"(?:{latin})(?![\w-])", *([f"(?:{cjk})"] if cjk else [])]
    return lazy(f"(?:{'|'.join(parts)})", re.IGNORECASE)


# ---- What a sentence is not: a question, a supposition, a report, something for this once ----

QUESTION = lazy(
    r"[?？]\W*$|^\W*¿|(?:吗|呢|か)[。.]?$|是不是|"
    r"^\W*(?:(?:ok(?:ay)?|so|and|but|also|hm+|und|aber|et|mais|y|e)\W+)*(?:why|what(?!ever)|which|who|where|when (?:do|did|will|is|are)|how|(?:can|could|would|will|shall|should|do|does|did|is|are|was|were|has|have|am) (?:you|we|i|it|the|there|this|that|they|anyone|our)|"
    r"warum|wieso|weshalb|wer|wo|wie|kannst du|können wir|könntest du|sollen wir|sollten wir|ist das|gibt es|"
    r"qué|cuál|cómo|dónde|puedes|podrías|podemos|por qué|deberíamos|"
    r"pourquoi|comment|où|quel(?:le)?s?|est-ce|peux-tu|tu peux|on peut|pouvez-vous|"
    r"por que|qual|onde|você pode|pode (?:me|você)|podemos|"
    r"为什么|怎么|什么|哪|能不能|可以帮|なぜ|どう|何|どこ)(?![\w'’])",
    re.IGNORECASE,
)
TAG_QUESTION = lazy(
    r",?\s*(?:ok(?:ay)?|right|yes|please|remember|got it|got that|alright|understood|ja|klar|vale|d'accord|tá|certo|好吗)\s*[?？]\W*$",
    re.IGNORECASE,
)
SUPPOSED = _role(
    r"i changed my mind|maybe|perhaps|probably|possibly|might|could|would be|not sure|what if|whether|should we|i (?:think|guess|wonder|believe|suppose)|we should (?:probably|maybe)|"
    r"vielleicht|eventuell|womöglich|könnte|könnten|sollten wir|ich glaube|ich denke|ob|"
    r"quizás?|tal vez|a lo mejor|deberíamos|podríamos|creo que|"
    r"peut-être|on devrait|pourrait|pourrions|je crois|je pense|"
    r"talvez|devêssemos|deveríamos|poderíamos|acho que",
    r"也许|可能|要不要|是否|かもしれ|でしょうか|と思う|たぶん",
)
ONE_OFF = _role(
    r"for now|for the moment|(?:is|are|due) (?:on |by )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)|right now|tomorrow|by (?:monday|tuesday|wednesday|thursday|friday)|this time|just this once|only this once|(?:just|only) here|temporarily|for today|today|yet|meanwhile|in the meantime|(?:in|on) th(?:is|at) (?:pr|branch|commit|function|method|file|test|class|line|case|ticket|issue|one|prototype|spike|demo|experiment)|"
    r"anything else|the other (?:one|file|window|tab)|yesterday|this (?:morning|afternoon|week|evening)|last night|(?:an?|\d+) (?:hours?|minutes?|days?) ago|just now|later|i changed my mind|"
    r"erst ?mal|vorerst|gestern|bis morgen|gerade eben|diesmal|dieses mal|heute|später|im moment|vorläufig|fürs erste|"
    r"por ahora|de momento|ayer|esta (?:mañana|vez)|por el momento|hoy|luego|más tarde|todavía no|"
    r"pour l['’]instant|pour le moment|hier|ce matin|cette fois|aujourd['’]hui|plus tard|"
    r"por enquanto|ontem|esta manhã|desta vez|dessa vez|por ora|hoje|depois",
    r"昨天|明天|刚才|我先|这次|这一次|暂时|先把|今天|以后再|回头再|昨日|明日|今朝|今回|あとで|後で|とりあえず|ひとまず|今日は",
)
REPORT = _role(
    r"fails?|failing|failed|broken|breaks?|crash(?:es|ed|ing)?|errors?|exceptions?|hangs?|bugs?|slow|flaky|missing|stuck|wrong|pass(?:es|ed|ing)?|finish(?:es|ed)?|green|red|works?|working|compiles?|blank|empty|ready|finished|done|better|problems?|issues?|left|progress|results|matches|luck|no output|returns? (?:an? )?[45]\d\d|"
    r"(?:does|do|did|is|are)(?:n['’]t| not) (?:work\w*|load\w*|show\w*|open\w*|start\w*)|i (?:get|got|see|saw|keep getting)|takes? \d+|"
    r"kaputt|funktionier\w+|fehler|schlägt|abstürzt|hängt|geht nicht|laufen nicht|läuft nicht|grün|rot|fertig|ich bekomme|"
    r"pasan?|falla|fallan|listo|roto|rota|error|no funciona|"
    r"passent?|échoue|prêt|cassée?|erreur|ne marche pas|plante|"
    r"passam?|falha|pronto|quebrad[oa]|erro|não funciona|trava",
    r"通过|好了|问题|不了|失败|报错|错误|打不开|崩溃|通り|通った|壊れ|失敗|エラー|動かない",
)
# Momentary states of the writer or of the work at hand.
RESIDUE = _role(
    r"i(?:['’]m| am)(?: just| still| now| currently)? \w+ing|i(?:['’]m| am) (?:halfway|in the middle|almost|nearly|about to|done|back|off)|i (?:just|already) (?:pushed|merged|committed|ran|started|opened|fixed|changed)|"
    r"let me|i['’]ll|i will|we['’]ll (?:see|fix|do|look)|we(?:['’]re| are) (?:still |currently )?(?:trying|waiting|looking|debugging|fixing|testing|almost|nearly|halfway|close|done)|lunch|back in|when you(?:['’]re| are) done|"
    r"ich bin gerade|ich muss|estoy|je suis en train|estou",
)
# Another one's words: "the customer wrote: …".
REPORTED = lazy(
    r"\b(?:wrote|writes|says?|said|claims?|asked|complain(?:s|ed)|reads?|quote|translate|schreibt|schrieb|sagt|dice|dijo|dit|écrit|disse|diz)\b[^,;:]{0,40}:"
    r"|\b(?:a list of|examples? of|such as|text|string|message|label|titled|called) [\"“'x]|"
    r"\b(?:the|this|our) (?:docs?|readme|comment|article|page|ticket|issue|error(?: message)?|log|customer|client|user|reviewer) (?:says?|said|states?|claims?|wrote|mentions?|wants?|asks?)\b",
    re.IGNORECASE,
)

# ---- How a sentence opens: an objection, an aside, a request to remember ----

OPENER = _start(
    r"ok(?:ay)?|so|and|also|but|please|pls|hey|hm+|um+|well|wait|btw|by the way|yes|yeah|great|thanks|thank you|nice|sorry|oh|look|again|"
    r"plus|then|now|listen|small correction|correction|one more thing|looks good|good|perfect|"
    r"und|aber|bitte|übrigens|also|außerdem|achtung|danke|ja|gut|"
    r"y|pero|por favor|además|también|ojo|gracias|por cierto|"
    r"et|mais|aussi|d['’]ailleurs|attention|s['’]il te pla[iî]t|merci|au fait|"
    r"mas|também|aliás|atenção|obrigad[oa]",
    r"另外|还有|请|对了|好的|但是|それと|あと|ちなみに|でも|はい|すみません|お願い",
)
OBJECTION = _start(
    r"no+|nope|nah|wrong|incorrect|false|not true|not quite|stop(?: it)?|actually|(?:that|this|it)(?:['’]s| is| was)(?: just| simply| still| all| completely)? (?:wrong|incorrect|false|deprecated|not (?:right|true|correct|it|how|what|the|a)|the old|outdated|stale|out of date|nonsense|no longer)|"
    r"(?:that|this|it) (?:isn['’]t|is not|wasn['’]t|was not|doesn['’]t|does not|didn['’]t|did not|won['’]t|makes no)|you(?:['’]re| are) (?:wrong|mistaken)|you (?:misunderstood|forgot|missed|got (?:it|that) wrong|used .{1,40} again)|"
    r"i was (?:wrong|mistaken)|i (?:already )?(?:told|said|asked|never|didn['’]t|did not|don['’]t think|disagree|meant)|not [\w./-]{1,20}(?=[.,!]| but)|who (?:decided|said|told)|"
    r"nein|nee|falsch|stimmt nicht|das (?:ist falsch|stimmt (?:so )?nicht|war falsch|ist (?:nicht|veraltet|so nicht))|quatsch|hör auf|lass das|"
    r"eso (?:está mal|no (?:es|está)|ya no)|incorrecto|te equivocas|falso|para(?=,)|"
    r"non|c['’]est (?:faux|incorrect|pas)|ce n['’]est pas|tu te trompes|arrête|"
    r"não|nao|isso (?:está errado|não)|errado|incorreto|você errou|pare",
    r"不对|不是|错了|不行|不要|别|停|いや|いいえ|違い?ます|違う|ちがう|そうじゃ|間違",
)
PLEASANTRY = _start(
    r"no (?:problem|worries|rush|need|idea|thanks|pressure|hurry|big deal|clue|matter|one|response|answer|reply|output|result|data|effect|tests?|difference|luck|way|wonder|doubt|changes?)|no,? (?:that|it)(?:['’]s| is) (?:fine|ok|okay|good|all|better|great)|not (?:bad|yet|sure|now)|never ?mind|never (?:seen|been|had|happened|worked|heard|saw)|(?:always|immer(?: wieder)?|siempre|toujours|sempre) (?:the|de[rn]|el|la|o)? ?(?:same|gleiche[rn]?|mismo|misma|même|mesm[oa])|don['’]t worry|"
    r"actually,? (?:(?:that|this|it)(?:['’]s| is))? ?(?:great|better|good|nice|fine|perfect|can you|could you|let['’]s|yes|also|one more)|stop (?:here|there|for)|"
    r"kein problem|keine (?:sorge|eile|ahnung)|no (?:hay|pasa|te preocupes)|(?:pas de |aucun )(?:problème|souci)|sem problema|não (?:tem|há|se preocupe) ?(?:problema|pressa)?",
    r"总是同样|没问题|没关系|不客气|いつも同じ|問題(?:あり|な)|大丈夫",
)
DOUBT = _role(
    r"are you sure|sure about that|i (?:don['’]t|do not) (?:think|believe|buy) (?:so|that|it)|doubt(?: it| that)?|can you (?:verify|prove|double[- ]check)|really\?|look again|try again|check again|think again|"
    r"still (?:the same|fails?|failing|broken|hangs?|crash\w*|off|wrong|slow|there|happen\w*|not)|same (?:error|problem|issue|result|thing|behaviou?r)|(?:didn['’]t|doesn['’]t|did not|does not|hasn['’]t) (?:help|work|fix|change|make a difference)|no (?:difference|change|effect|luck)|"
    r"not (?:fixed|solved|it|the (?:cause|problem|reason|case|issue))|we don['’]t (?:even )?have|was (?:fine|ok|correct|right)|revert (?:that|it|this)|undo (?:that|it|this)|"
    r"bist du sicher|immer noch|gleicher fehler|hat nicht geholfen|schau nochmal|"
    r"estás seguro|sigue (?:igual|fallando)|mismo error|no ayudó|"
    r"tu es s[ûu]r|toujours (?:pareil|la même)|même erreur|"
    r"tem certeza|continua (?:igual|falhando)|mesmo erro",
    r"你确定|还是(?:一样|不行|通过|好了|问题|不了|失败|报错)|没用|再看看|本当に|まだ(?:同じ|失敗|だめ|ダメ)|直って(?:い)?ない",
)
REMEMBER = _start(
    r"(?:please |always |and |also )*(?:remember|note(?= that|[:,])|keep (?:this |that )?in mind|bear in mind|be aware|don['’]t forget|do not forget|never forget|mind)(?: this| that)?(?: please)?(?=[\s:,])(?! to\b| when\b| the time\b| how\b)|"
    r"fyi|for your information|for (?:future|later) reference|just so you know|for the record|note to self|important:|psa|reminder:?|heads[- ]up|be careful|careful|beware|(?:you (?:forgot|keep forgetting)|i(?:['’]ve)? (?:already )?(?:told you|said|mentioned))(?: again| before| already)*(?: that|:|,)|"
    r"merk(?:e)? dir|denk(?:e)? (?:dran|daran)|beachte|vergiss nicht|zur info|wichtig:|"
    r"recuerda|acuérdate|ten en cuenta|toma nota|no olvides|importante:|"
    r"souviens[- ]toi|rappelle[- ]toi|note (?:bien )?que|n['’]oublie pas|garde en tête|important :|"
    r"lembre(?:-se)?|lembra|tenha em mente|anote|não (?:se )?esque[çc]a",
    r"记住|记得|请记|注意|别忘了|覚えて(?:おいて|て)?(?:ください)?|メモ(?:して)?|忘れないで|注意",
)
POINTS_BACK = lazy(
    r"(?:remember|note|save|keep|store)(?: this| that| it)(?: in mind| for (?:later|the future|next time))?(?: please)?\W*$|"
    r"(?:merk dir das|recuérdalo|retiens[- ]le|lembre disso)\W*$|(?:记住这个|覚えておいて)\W*$",
    re.IGNORECASE,
)

# ---- What makes a sentence lasting ----

ALWAYS = _role(
    r"always|never|only ever|at all times|in general|generally|as a rule|by default|everywhere|under no circumstances|whenever|without exception|"
    r"immer(?! noch)|nie(?:mals)?|grundsätzlich|überall|generell|standardmäßig|keinesfalls|"
    r"siempre|nunca|jamás|en general|en todas partes|por defecto|"
    r"toujours(?! pas)|jamais|partout|en général|par défaut|"
    r"sempre|jamais|em geral|por padrão|em todo lugar",
    r"总是|永远|从来不?|从不|绝不|绝对不?|一律|千万|必须|每次|统一|必ず|常に|いつも|絶対に?|決して|一切",
)
FROM_NOW = _role(
    r"from now on|from here on|going forward|in (?:the )?future|next time|from today|henceforth|before (?:every|each|any)|after (?:every|each|any)|every time (?:you|we)|(?:when(?:ever)?|if) (?:you|we) (?:touch|add|change|edit|create|commit|push|release|deploy|modify|rename|update)|"
    r"ab (?:jetzt|sofort|heute)|künftig|in zukunft|von nun an|(?:vor|nach|bei) jede[mr]|wenn du|"
    r"a partir de (?:ahora|agora)|de ahora en adelante|(?:antes|después|depois) de cada|en cada|"
    r"désormais|dorénavant|à partir de maintenant|(?:avant|après|à) chaque|"
    r"daqui (?:em|para|pra) (?:diante|frente)|a cada",
    r"以后|从现在起|今后|每次|(?:之|以)前(?:必须|要)|今後|これから|たびに|前に必ず",
)
STANDING = _role(
    r"in this (?:repo(?:sitory)?|project|code ?base|team|company|house)|in our (?:repo(?:sitory)?|project|code ?base|team|\w+)|around here|"
    r"no longer|any ?more|no more|not any longer|since (?:v?\d[\w.]*|january|february|march|april|may|june|july|august|september|october|november|december|last \w+)|as of|the (?:correct|right|proper|canonical|official|only|default|main|primary) \w+ (?:is|are)|this is an? (?:[\w-]+ ){0,3}(?:workspace|project|repo(?:sitory)?|monorepo|app|library|package|service|code ?base)|policy|convention|hard rule|house rule|rule(?= ?:)|"
    r"in diesem (?:projekt|repo)|bei uns|im ganzen projekt|nicht mehr|seit|konvention|regel|"
    r"en este (?:proyecto|repo)|ya no|desde|convención|"
    r"dans ce (?:projet|dépôt|repo)|depuis|"
    r"neste (?:projeto|repo\w*)|não \w+ mais|convenção",
    r"这个项目|本项目|我们项目|已经不|不再|从.{1,6}起|规定|このプロジェクト|このリポジトリ|もう.{0,12}(?:ません|ない)|から\d",
)
MUST = _role(
    r"must(?:n['’]t)?|has to|have to|needs? to|may not|may only|can only|cannot|is required|are required|(?:is|are) (?:forbidden|not allowed|mandatory|prohibited|off[- ]limits|banned)|not allowed|forbidden|"
    r"muss|müssen|darf nicht|dürfen|verboten|pflicht|gilt|"
    r"debe[ns]?|hay que|tiene[n]? que|prohibido|obligatori[oa]|necesitan?|"
    r"doi(?:t|vent)|il faut|interdit|obligatoire|"
    r"deve[m]?|tem que|têm que|proibid[oa]|obrigatóri[oa]|precisam?",
    r"必须|不得|禁止|只能|要先|不能|なければ|べき|必須|禁止|こと[。.]?$",
)
UNIVERSAL = _role(
    r"all|every|each|any|no|only|every(?:thing|one) (?:in|under|below|inside|that|goes|runs|lives|uses|comes)|none|both|alle[sn]?|jede[rsn]?|kein(?:e[nrms]?)?|nur|tod[oa]s?|cada|ningún|ninguna|sólo|solo|únicamente|uniquement|somente|ausschließlich|exclusively|tous|toutes?|chaque|aucune?|seulement|todo|toda|nenhuma?|apenas",
    r"所有|全部|每个|每周|都|只|すべて|全て|全部|毎|だけ",
)
CONTRAST = lazy(
    r"[,;]\s*(?:and )?not (?!sure|yet|only|working|a big|the (?:other|first|second))\w|\bnot [\w./ -]{1,30},? but\b|\binstead of\b|\brather than\b|\b(?:over|than) \w+\b(?=$|[.,])|(?:use|run|prefer|call) [\w@./`-]+ not [\w@./`-]+|\bnot [\w@./`-]+\W*$|"
    r",\s*(?:nicht|kein\w*|no|pas|não|nao) \w|\b(?:an)?statt\b|\ben (?:vez|lugar) de\b|\bau lieu d|\bem vez d|不要用|而不是|[，,]不是|而非|ではなく|ではありません|ではない|じゃなく|の代わり",
    re.IGNORECASE,
)
CHANGED = _role(
    r"(?:is|are|it['’]s|we['’]re|they['’]re) (?:now|called|on|at)\b.*\bnow|now (?:uses?|lives?|runs?|requires?|needs?|called|on|in|at)|[\w.]+ now|(?:is|are) now|(?:has |have )?(?:moved|migrated|switched|changed|renamed)(?: (?:from|to|into|over))|it['’]s called|out ?dated|deprecated|legacy|frozen|(?:is|are) (?:owned|generated|maintained|managed|shared|read[- ]only|mirrored|sharded)|"
    r"jetzt|veraltet|heißt jetzt|ahora|obsoleto|maintenant|obsolète|agora|obsoleto",
    r"现在(?:用|是)|改成了|过时|今は|になりました|非推奨",
)
REASON = _role(
    r"because|since|so (?:run|use|don['’]t|never|always|please|you|we|no)|as (?:it|they|we|the)|so that|otherwise|it(?:['’]s| is) (?:generated|shared|frozen|read[- ]only|deprecated)|gdpr|weil|da|sonst|porque|ya que|parce que|car|sinon|pois|senão",
    r"因为|否则|ので|から[。、]",
)

# ---- Who speaks about what ----

WE = lazy(
    r"(?<!\w)(?:we|the team|this (?:repo(?:sitory)?|project|code ?base|team|company)|everyone here)(?:['’]ve|['’]re|['’]d)?"
    r"(?: (?:also|still|all|always|never|only|usually|generally|mostly|really|actually|now|already|just))*+"
    r"(?: (?:don['’]t|do not|haven['’]t|have not|no longer|doesn['’]t|does not|aren['’]t|are not|can['’]t|cannot))?+(?: (?:ever|even|allow|use to))*+"
    r" (?!need\b|needs\b|want\b|should\b|could\b|can\b|might\b|would\b|will\b|may\b|get\b|got\b|see\b|saw\b|were\b|was\b|think\b|talked\b|discussed\b|had\b|just\b|going\b|know\b|tried\b|try\b|shall\b|did\b|must\b|have to\b|seeing\b|getting\b|having\b|hitting\b|running\b|planning\b|look\w*\b|do\b(?! (?:not|it|that)?\b)|'|need)"
    r"(?P<verb>[a-z][\w-]+)|"
    r"(?<!\w)wir(?: (?:nie|immer|nur|hier|auch|grundsätzlich|niemals))* (?!sollten|könnten|müssten|brauchen|wollen|haben uns)(?:[a-zäöüß]+en|sind)\b|(?<!\w)(?!sollen|sollten|können|könnten|wollen)[a-zäöüß]+en wir\b|"
    r"(?<!\w)(?!podemos|necesitamos|tenemos|vamos|queremos|debemos|hagamos|temos|precisamos|estamos|ficamos|vimos)[a-záéíóúç]+(?:amos|emos|imos)(?!\w)|"
    r"(?:^|qu['’e]|projet |dépôt |ici |désormais |(?<!\w)(?=nous))(?:on|nous)(?: n['’e]?)? ?(?!peut|devrait|pourrait|doit|va|veut|a\b)(?:n['’])?[a-zéèêàç]{3,}(?= )|(?<!\w)a gente \w+|"
    r"我们(?!是不是|应该|要不要|可以|需要|能)|咱们|私たち|うちで?は|このプロジェクト",
    re.IGNORECASE,
)
PREFER = lazy(
    r"(?<!\w)(?:i (?:always |strongly |generally |usually |really |much |still |do )*(?:prefer|hate|love|dislike|like|don['’]t (?:like|want)|do not (?:like|want)|can['’]t stand)(?! (?:it|this|that(?! you)|these|the (?:second|first|other|new|old)|how|what)\b)|i(?:['’]d| would) (?:much |really )?(?:rather|prefer)|my (?:\w+ )?(?:preference|name|style|convention|rule)\b|i want (?:all|every|each|any|no|you to (?:always|never))\b|i expect\b|i (?:work on|use|speak|am on)(?! (?:the|this|that|it|a|an|your|my)\b)|i['’]m on(?! (?:the|it|this|that|branch)\b)|my (?:time ?zone|editor|machine|os|shell|keyboard|laptop|pronouns|setup)\b|"
    r"ich (?:bevorzuge|mag|hasse|möchte (?:immer|nie|keine?)|will (?:immer|nie|keine?))|mir (?:ist|sind) .{1,40} lieber|"
    r"prefiero|no me gusta\w*|odio|me gusta\w* (?!así|esto|eso)|"
    r"je (?:préfère|déteste|n['’]aime pas|veux (?:que|toujours|pas))|j['’](?:aime|exige)(?! (?:ça|bien))|"
    r"prefiro|não gosto|odeio|gosto de)(?!\w)|"
    r"我(?:更?喜欢|偏好|讨厌|不喜欢|习惯)|好きです|のほうがいい|ほうが好き|嫌いです|好みです",
    re.IGNORECASE,
)
DECIDED = lazy(
    r"(?<!\w)(?:(?:we|the team|they)(?:['’]ve| have| all| both| finally| now)* (?:decided|chose|agreed|settled|opted|voted|picked(?! up)|ruled out|rejected|went with|got rid of|removed|replaced|retired|abandoned|dropped|switched|moved|migrated|standardi[sz]ed)|"
    r"we(?:['’]re| are) (?:going with|dropping|switching|moving|migrating|sticking with|standardi[sz]ing)|we(?:['’]ll| will) (?:go with|use|stick with|stay with|switch|move|drop)|let['’]s (?:go with|use|stick with|stay with|switch to|standardi[sz]e on)|"
    r"(?:sessions|it|that|this) stays? in|decision:|"
    r"wir (?:haben|hatten) (?:uns )?.{0,60}(?:entschieden|beschlossen|geeinigt)|lass uns .{1,40} (?:nehmen|verwenden|nutzen)|wir (?:nehmen|wechseln|steigen)|"
    r"(?:hemos )?(?:decidi(?:mos|do)|acordamos|acordado|optamos|elegimos)|vamos a (?:usar|migrar|quedarnos)|"
    r"(?:nous avons|on a) (?:décidé|choisi|convenu|opté)|on (?:passe|reste) (?:à|sur|avec)|"
    r"(?:decidimos|optamos|combinamos|escolhemos)|vamos (?:usar|de|ficar com|migrar))(?!\w)|"
    r"我们?决定|定了用|改用|ことに(?:決め|し)|に決め(?:ました|た)",
    re.IGNORECASE,
)
VAGUE_CHOICE = lazy(
    r"\b(?:option|approach|variant|version|alternative|plan|solution|choice) ?(?:\w|\d+)?\b|\b(?:the )?(?:first|second|third|last|other|latter|former)(?: one| option| approach|(?=\W*$))|\b(?:it|this|that|yours?)\W*$",
    re.IGNORECASE,
)

# ---- Orders ----

# Verbs of a single piece of work; "use", "run", "prefer", "avoid" and the like may order a habit.
TASK = _start(
    r"add|fix|stop(?! \w+ing)|write|make|implement|create|rename|remove|delete|move|update|change|refactor|generate|translate|explain|show|check|find|look|open|build|bump|merge|rebase|revert|undo|sort|format|put|set up|set|install|deploy|start|debug|investigate|review|summari[sz]e|convert|extract|split|rewrite|replace|try|test|tell|give|list|print|read|act|continue|proceed|leave|skip|clean|search|help|commit|push|pull|draft|design|answer|reproduce|compare|migrate|let me|go ahead|we need|i need|i want a|i['’]d like a|"
    r"füge|schreib|mach|benenne|erstelle|lösche|zeig|erkläre|baue|entferne|ändere|prüfe|implementiere|teste|"
    r"añade|agrega|escribe|haz|crea|renombra|borra|elimina|muestra|explica|arregla|cambia|implementa|ejecuta|revisa|"
    r"ajoute|écris|fais|crée|renomme|supprime|montre|explique|corrige|change|implémente|lance|vérifie|mets|"
    r"adicione|escreva|faça|crie|renomeie|apague|remova|mostre|explique|corrija|mude|implemente|rode|verifique|deixe",
)
DONT = _start(
    r"don['’]?t|do not|never|stop(?= \w+ing)|avoid|no more|quit|refrain from|no(?= \w+)(?! (?:it|it['’]s|that|this|the|i|you|we|they|there|don['’]t|not|an?|but|and)\b)|under no circumstances|"
    r"nie(?:mals)?|keine?[nrms]?|nicht|hör auf|vermeide|"
    r"no (?:uses|hagas|pongas|escribas|añadas|toques|subas|cambies|borres|metas|crees|ejecutes)|nunca|deja de|evita|"
    r"n['’](?:utilise|ajoute|écris|emploie)|ne \w+ (?:pas|jamais|plus)|arrête d|évite|jamais de|pas d|"
    r"não (?:use|faça|coloque|escreva|adicione|toque|mude|apague|crie|rode)|pare de|evite",
    r"不要|别|不准|禁止|请勿|千万不要",
)
JA_DONT = lazy(
    r"(?:しない|使わない|書かない|入れない|追加しない|変えない|触らない|なさらない)(?:で(?:ください)?|こと|でほしい)|禁止|やめて"
)
ZH_USE = lazy(
    r"用(?:中文|英文|英语|日语)|(?:日本語|英語|中国語)で(?:答え|書|返|お願い)|用 ?[\w.-]+ ?[，,]? ?(?:不要|别|而不是)|を使って(?:ください)?|を使います|使うこと"
)
USE = _start(
    r"(?:always )?(?:use|run|call|prefer|write|keep|name|put|format|ask|commit|push|deploy|log|store|test|import|explain|answer|reply|document|mark|wrap|return|pass)|"
    r"benutz(?:e|t)?|verwende|nimm|nutze|schreib|usa|utiliza|escribe|utilise|emploie|écris|use|utilize|escreva",
)
# One certain thing at hand, in contrast to a kind of things.
DEFINITE = lazy(
    r"^\W*(?:the|this|that|these|those|it|them|him|anything|everything|my|your|its|a|an|another|one|so|too|there|me|us|diese[rsmn]?|das|den|die|es|esto|eso|este|esta|el|la|los|las|ça|cela|ce(?:tte)?|le|les|un|une|uma?|isso|isto)\b",
    re.IGNORECASE,
)
STATIVE = _role(
    r"(?:is|are|was) (?:\w+ )?(?:in|on|at|under|behind|called|named|hosted|owned|generated|sharded|stored|kept|written|wiped|reset|rebuilt|cut|deprecated|frozen|read[- ]only|shared|mirrored|managed|signed|pinned|limited|capped|required|only|part|based|maintained)|lives?|runs?|belongs?|goes?|go|uses?|requires?|needs?|expects?|supports?|listens?|deploys?|owns?|returns?|counts?|starts? at|points? to|talks? to|calls?|follows?|expires?|comes? (?:as|in|with|back)|means|(?:is|are) (?:\w+ )?(?:\w+(?:ed|en)|built|kept|sent|made|run|set|done|read) (?:in|on|from|by|at|to|with|via|through|under|every|only)|stands? for|comes? from|depends? on|"
    r"heißt|läuft|laufen|liegt|liegen|gehen|geht|gehört|wird|werden|nutzt|sind|va|van|se llama|está|están|se (?:borra|guarda|usa)|corren?|usan?|vont?|tourne(?:nt)?|s['’]appelle|est (?:effacée?|sur|dans)|chama-se|são|é|vão|fica|roda",
    r"是|在|会|用|です|ます",
)
# In which language to write.
ANSWER_IN = lazy(
    r"\b(?:in|auf|en|em) (?:english|german|french|spanish|portuguese|japanese|chinese|deutsch|englisch|español|inglés|français|anglais|português|inglês)\b",
    re.IGNORECASE,
)
# What work is made of, whatever it is about: rules about them outlast a task.
PROCESS = lazy(
    r"\b(?:commit messages?|commits|branch(?:es| names?)|comments|docstrings?|variables?(?: names?)?|pr titles?|pull requests|changelog entries|imports|identifiers|test names|log messages|dependencies)\b",
    re.IGNORECASE,
)
# Parts of a product whose behaviour is specified in tasks.
PRODUCT = lazy(
    r"^\W*(?:(?:the|a|an|this|that|each|every|der|die|das|el|la|le|o) )?(?:\w+ ){0,2}?(?:users?|customers?|visitors?|admins?|pages?|buttons?|modal|dialog|form|menu|banner|list|field|function|method|e-?mail|link|image|icon|screen|view|response|output|result|endpoint|component|popup|header|footer|title|label|input|script|command|query|loop|branch|file|pr|ticket|nutzer|benutzer|usuarios?|utilisateurs?|usuários?) (?:should|must|can|may|has|have|needs?|is|are|shall|will|soll|muss|kann|debe|puede|doit|peut|deve|pode)\b",
    re.IGNORECASE,
)
BEHAVIOUR = _start(r"show|hide|display|render|return|redirect|send|highlight|print|scroll|log out|close|open")
# Orders that are habits by nature.
HABIT = lazy(
    r"(?:ask|check with|consult|tell|warn|wait for)(?: me| us)?(?: first)? (?:before|when(?:ever)?|if)\b|keep (?!it|this|that|the|going|them|in)\w+|"
    r"prefer (?!it|this|that|the)\w+|write (?:commit messages|pr (?:titles|descriptions)|changelog entries)|(?:frag|frage) (?:mich )?(?:vorher|bevor)|pregunta(?:me)? antes|demande(?:-moi)? avant|pergunte antes",
    re.IGNORECASE,
)
# A request about the memory itself, beside what it should say.
ABOUT_MEMORY = lazy(
    r"[,.;，。、]?\s*(?:(?:so|and|please|pls|bitte|por favor|s['’]il te pla[iî]t)\W+)*(?:(?:correct|update|fix|adjust|change|amend) (?:your|the|that) (?:memor(?:y|ies)|notes?)|"
    r"(?:korrigiere?|aktualisiere?) (?:dein gedächtnis|deine notizen?)|(?:corrige|actualiza) (?:tu|la) memoria|(?:corrige|mets à jour) ta mémoire|(?:corrija|atualize) (?:sua|a) memória|"
    r"(?:请)?(?:更新|改正|纠正)(?:一下)?你的?记忆|記憶を(?:更新|修正)して(?:ください)?)(?: accordingly| please)?\W*",
    re.IGNORECASE,
)
