"""Patterns of sentences in which a model refuses, or says that it does not know, in English and Chinese.

A refusal is told by three cues together: the model speaks of itself (or of the request), it denies, and it denies what
a model is there for. Each pattern is matched at the beginning of one sentence of limited length.
"""

import re


def _any(*patterns: str) -> str:
    return f"(?:{'|'.join(patterns)})"


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts), re.IGNORECASE)


_AI = (
    r"(?:an?|the|your)\s+(?:[\w-]+\s+){0,3}?"
    r"(?:ai|a\.i\.|artificial\s+intelligence|language\s+model|llm|chatbot|assistant)\b"
)
_I = r"(?:i|we)\b"
_TO_COMMA = r"[^,.;:!]{0,80}(?=[,.;:!]|\s+but\b|\s*$)"
_SORRY = _any(
    r"(?:(?:i|we)(?:'m|'re|\s+am|\s+are)\s+)?(?:[a-z]+ly\s+|so\s+|very\s+)*(?:sorry|afraid)(?:\s+(?:that|to\s+say))?",
    r"(?:my\s+|please\s+accept\s+my\s+)?(?:[a-z]+\s+)?apologies",
    rf"(?:i|we)\s+(?:\w+ly\s+|must\s+|do\s+)?apologi[sz]e(?:\s+for\b{_TO_COMMA})?",
    r"(?:i|we)(?:\s+do|\s+can)?\s+(?:appreciate|understand|respect|hear|wish\s+(?:i|we)\s+could|would\s+love\s+to|'d\s+love\s+to)"
    rf"\b{_TO_COMMA}",
    rf"(?:i|we)'d\s+(?:love|like)\s+to\b{_TO_COMMA}",
    r"(?:and\s+|but\s+)?(?:unfortunately|regrettably|sadly|honestly|frankly)",
    r"(?:oh|oops|hello|hi|hey|well|ah|hmm+|um+|no|nope|ok(?:ay)?)\b",
    rf"(?:thanks|thank\s+you)(?:\s+for\b{_TO_COMMA})?",
    r"(?:(?:the|my|final|correct)\s+){0,2}(?:answer|response)(?:\s+is)?|assistant|error|content\s+warning",
    rf"(?:while|although|though|even\s+(?:if|though))\s+(?:i|we|you|it|this|that)\b{_TO_COMMA}",
    rf"(?:regarding|about|concerning|as\s+for|as\s+to)\s+(?:the|this|that|your)\b{_TO_COMMA}",
    rf"(?:as|since|because|being|given\s+that)\s+(?:(?:i|we)(?:'m|\s+am)\s+)?(?:only\s+|just\s+)?{_AI}(?:{_TO_COMMA})?",
    r"(?:at\s+this\s+time|at\s+the\s+moment|for\s+\w+\s+reasons)",
)
_LEAD = rf"\W*(?:{_SORRY}(?:[\s,.:;!—–-]{{1,9}}(?:but|and|that)?\s*|$)){{0,5}}"

_DENIES = (
    r"(?:n't|\bnot|\bcannot|\bcant|\bnever|\bun(?:able|willing|comfortable|ethical)|\binappropriate|\bimpossible|"
    r"\b(?:have|there\s+is|there's)\s+no(?:thing)?|\blacks?|\bdeclin\w+|\brefus\w+|\brefrain|\babstain|\bprohibit\w*|\bforbid\w*|"
    r"\bprevent\w*|\bagainst|\boutside|\bbeyond|\bviolat\w+|\brather\b|\bprefer|\bpass\b|\bskip\b)"
)
_SERVES = (
    r"\b(?:help(?!\s+(?:but|thinking|feeling|noticing|wondering|believing))|assist\w*|aid|answer\w*|respon[ds]\w*|repl(?:y|ies|ying)|"
    r"compl(?:y|ying|iance)|requests?|questions?|quer(?:y|ies)|prompts?|fulfil\w*|provid\w+|discuss\w*|topics?|conversations?|"
    r"comment\w*|polic(?:y|ies)|guidelines|programming|instructions|opinions?|beliefs|feelings|emotions|consciousness|minds|"
    r"mental\s+states|a\.?i\.?|language\s+model|engag\w+|participat\w+|continu\w+|content|information|guess\w*|assumptions?|"
    r"speculat\w*|judge?ments?|advice|shar(?:e|ing)|disclos\w*|generat\w*|process|capabilit(?:y|ies)|ability|abilities|scope|"
    r"task|roleplay|pass|skip|(?:do|doing|say|saying)\s+(?:that|this|so|it)|able\s+to\s+do|give\s+(?:you|an?|any|that))\b"
)
_EXPLAINS = r"\b(?:explanations?|explain|elaborate|details?|reasoning|reasons)\b"
"""What a model may keep to itself without refusing: it is told not to explain."""
_STATES = (
    rf"{_I}\s*(?:would|'d|can|will|'ll|am\s+going\s+to|'m\s+going\s+to)?\s+(?:\w+ly\s+)?(?:say|think|believe|guess|choose|pick|"
    r"select|conclude|assume|go\s+with)\b|"
    rf"{_I}\s+(?:do\s+not|don't)\s+(?:\w+ly\s+)?(?:think|believe|feel|say)\s+(?:that\s+)?(?!i\b|we\b|comfortable|able|right|it's|it\s)\w"
)
"""What a model thinks of others."""
_MODAL = (
    r"(?:can\s?not|cant|can't|could\s+not|couldn't|will\s+not|won't|would\s+rather\s+not|prefer\s+not|rather\s+not|not\s+"
    r"(?:[a-z]+ly\s+)?(?:able|allowed|permitted|willing|comfortable|going|something)|un(?:able|willing)|refus\w+|declin\w+)\b"
)
_KEEPS = (
    r"(?:can\s?not|cant|can't|couldn't|could\s+not|won't|will\s+not|unable\s+to|not\s+(?:\w+ly\s+)?(?:able|allowed|"
    r"going|willing|qualified|in\s+a\s+position)\s+to|(?:not|n't)\s+(?:want\s+to|feel\s+(?:that\s+)?i\s+can)|prefer\s+(?:not\s+to|to\s+not))"
)
_TELLS = (
    r"(?:say|tell|label|classify|rate|judge|look|search|locate|access|open|choose|pick|select|confirm|reveal|"
    r"see\s+(?:any|the|your|a)\s+(?:\w+\s+)?(?:story|text|passage|question))\b"
)
"""What a model says that it does not do, and can do nothing about."""
REFUSAL = _pattern(
    _LEAD,
    _any(
        rf"(?!{_STATES})(?:{_I}|(?:my|our)\b(?!\s+(?:\w+\s+)?(?:guess|answer|conclusion|view|choice)\b))(?!.*{_EXPLAINS})(?=.{{0,160}}{_DENIES})(?=.{{0,200}}{_SERVES})",
        rf"(?!.*{_EXPLAINS}){_MODAL}(?=.{{0,80}}{_SERVES})",
        rf"{_I}\s*(?:\w+ly\s+)?(?:'m\s+|am\s+|do\s*|'d\s+|would\s+)?{_KEEPS}\s+(?:\w+ly\s+)?{_TELLS}",
        r"(?:this|that|the|your)\s+(?:\w+\s+)?(?:story|scenario|text|passage|question|topic|content)\b.{0,80}"
        r"\b(?:i|we)\s+(?:can\s?not|can't|won't|will\s+not|am\s+not)\b",
        r"[^,.;:!?]{0,60}\b(?:not|n't)\s+(?:allow|permit|let)\s+(?:me|us)\b",
        rf"{_I}(?:'m|'ll|'d)?(?:\s+\w+){{0,5}}\s+(?:declin|refus|refrain|abstain)\w*",
        rf"{_I}(?:'ve|'m|'d|\s+\w+){{0,4}}\s+(?:rather|prefer|choose|chosen|choosing|told|instructed|want|wish)\s+not\b",
        rf"{_I}(?:'ll|\s+will|\s+must|\s+have\s+to)*\s+pass\b",
        rf"{_I}(?:'m|\s+am)\s+(?:only\s+|just\s+|merely\s+|simply\s+|still\s+)?{_AI}",
        rf"{_I}(?:'m|\s+am|\s+was|\s+have\s+been)\s+(?:only\s+|specifically\s+)?(?:programmed|designed|created|trained|built)\b",
        r"(?:this|that|the|your|such\s+an?|these|those)\s+(?:\w+\s+)?(?:requests?|prompts?|quer(?:y|ies)|contents?|topics?|tasks?|"
        r"questions?|subjects?|messages?)\s+(?:\w+\s+){0,4}?(?:violat|breach|against\b|contraven|outside\b|beyond\b|inappropriate|"
        r"unsafe|prohibited|restricted|sensitive|flagged|blocked|rejected|denied|refused|filtered|declined|withheld|not\s+"
        r"(?:appropriate|allowed|permitted|something|supported)|(?:cannot|can't)\s+be\s+(?:processed|completed|fulfil|generated|"
        r"displayed|shown|provided))",
        rf"{_I}\s+have\s+no\s+access\b",
        r"(?:this|that|it|(?:saying|telling|choosing|picking|naming)\b[^.;:!?]{0,80}?)\s+(?:may\s+|might\s+|could\s+|would\s+|seems\s+to\s+)?(?:violat|breach|contraven)",
        rf"(?:it|this|that)(?:'s|\s+is|\s+would|\s+goes|\s+falls)\s+(?=.{{0,60}}{_DENIES})(?:(?=.{{0,120}}\b(?:for\s+(?:me|us)|i|my)\b)|"
        r"(?:be\s+)?(?:not\s+(?:be\s+)?)?\w+\s+to\s+(?:answer|respond|discuss|comment|speculate|engage)\b)",
        rf"(?:answering|responding|helping|assisting|providing|discussing)\b(?=.{{0,80}}{_DENIES})",
        r"(?:there\s+is|there's)\s+nothing\s+(?:that\s+)?i\s+can",
        r"(?:let'?s|let\s+us|can\s+we|could\s+we|shall\s+we|maybe\s+we)\b(?=.{0,40}\b(?:talk|discuss|change|focus|move\s+on|switch)\b)",
        r"(?:the\s+)?(?:model|assistant|ai|system|request|access|content|answer|response|message|output|question)?\s*(?:was\s+|is\s+|has\s+"
        r"been\s+|has\s+)?(?:denied|refused|rejected|blocked|withheld|declined|filtered|removed|redacted|censored)(?:\s+(?:to\s+"
        r"\w+|by\b.{0,40}|as\b.{0,60}))?\W*$",
        r"(?:i\s+have\s+)?no\s+(?:comment|can\s+do|thanks|thank\s+you)\b",
        r"(?:pass|skip|refuse|decline|refusal)\W*$",
        r"(?:content|usage|safety)\s+(?:policy|filter|guidelines)\b",
        r"(?:not\s+(?:allowed|permitted|available))\W*$",
        r"please\s+(?:provide|clarify|rephrase|specify|ask|consult|give|share|paste)\b",
        r"(?:could|can|would)\s+you\s+(?:please\s+)?(?:provide|clarify|rephrase|specify|give|share|repeat|paste)\b",
        rf"{_I}\s+(?:would\s+|'d\s+)?need\s+(?:more|further|additional|the\b)",
        rf"{_I}\s+(?:didn't|did\s+not|don't|do\s+not)\s+(?:quite\s+)?(?:get|catch|understand)\b",
    ),
)
OFFER = _pattern(
    _LEAD,
    _any(
        r"(?:if|should|is\s+there|are\s+there|please|feel\s+free|let\s+me\s+know|how\s+(?:can|may)|what\s+(?:else\s+)?can)\b"
        r"(?=.*\b(?:you|me|i|else|help|ask|let|know|rephrase|provide|consult|professional|try|again|contact)\b)",
        rf"{_I}(?:'m|'d|'ll|'re|\s+am|\s+would|\s+will|\s+are|\s+can)\s+(?:be\s+|instead\s+|always\s+|also\s+|still\s+)*(?:happy|glad|"
        r"here|pleased|delighted|help|assist|love|learning|trying|committed)\b",
        r"(?:thank\s+you|thanks|i\s+hope|i\s+appreciate|i\s+understand|i\s+wish|feel\s+free|instead|however|my\s+\w+|i\s+(?:aim|strive|try))\b",
    ),
)
"""What stands beside a refusal: it offers something else."""

_TO_TELL = _any(
    "determine", "tell", "say", "know", "decide", "infer", "find", "conclude", "identify", "confirm", "predict",
    "judge", "verify", "figure", "choose", "pick", "select", "deduce", "establish", "ascertain", r"work\s+out",
    r"be\s+(?:\w+\s+)?(?:sure|certain)",
)  # fmt: skip
_HOW = r"(?:\s+(?:[a-z]+ly|just|also|still|even))*"
UNKNOWN = _pattern(
    _LEAD,
    _any(
        rf"{_I}{_HOW}\s+(?:do\s+not|don't|did\s+not|didn't){_HOW}\s+(?:know|remember|recall|have\s+(?:\w+\s+){{0,2}}(?:information|"
        r"idea|clue|answer|context|knowledge|data|access)|see\s+(?:any|enough|an?|the|where))",
        rf"(?:{_I}\s*(?:am|'m|are|'re)\s+)?(?:(?:[a-z]+ly\s+)?(?:unsure|uncertain|clueless)|not\s+(?:[a-z]+ly\s+|quite\s+|too\s+|so\s+|"
        rf"100\s*%\s+|at\s+all\s+)?(?:sure|certain)|(?:unable|not\s+able)\s+to{_HOW}\s+{_TO_TELL})",
        rf"(?:{_I}{_HOW}\s+)?(?:can\s?not|cant|can't|could\s+not|couldn't|am\s+not\s+able\s+to){_HOW}\s+(?!know\b){_TO_TELL}",
        rf"{_I}{_HOW}\s+(?:can\s?not|cant|can't|could\s+not){_HOW}\s+know\b",
        r"(?:i\s+have\s+|i've\s+(?:got\s+)?)?(?:absolutely\s+|really\s+)?no\s+(?:idea|clue)\b",
        rf"(?:it(?:'s|\s+is)\s+)?(?:hard|difficult|impossible|tough)\s+to\s+{_TO_TELL}",
        r"(?:dunno|idk|don't\s+know|do\s+not\s+know)\b",
        r"(?:there\s+is\s+|there's\s+)?(?:not\s+enough|insufficient)\s+(?:information|context|data)\b",
    ),
)
GOES_ON = _pattern(
    r"\W*(?:since|as|because|whether|if|where|which|who|what|given|for|and|or|nor|the\s+(?:story|text|passage)|there|it|this|that)\b"
)
"""A clause that belongs to the one before it."""

_ZH_AI = r"(?:作为|身为|我是|我只是)[^，。,.!！\n]{0,12}?(?:AI|人工智能|模型|助手|机器人)[^，。,.!！\n]{0,8}"
_ZH_LEAD = rf"[\s\W]*(?:(?:很|非常|十分|真的|实在)?(?:抱歉|对不起|不好意思|遗憾|您好|你好)|{_ZH_AI})*[\s\W]*"
_ZH_DENIES = (
    "(?:无法|不能|不(?:太|大)?方?便|不可以|没法|没有?办法|不会|不愿|不想|难以|未能|不被允许|无权|"
    "不应|还没有?学会|没有学会|拒绝|谢绝|不予|恕不)"
)
_ZH_SERVES = (
    "(?:提供|回答|协助|帮助|帮忙|帮到|满足|完成|讨论|参与|处理|给出|给到|作答|回应|答复|透露|生成|执行|继续|评论|发表|这样做|这么做|"
    "配合|响应|谈论|涉及|推测|揣测|显示|做到|办到|聊|谈|帮您|帮你|为您|为你)"
)
ZH_REFUSAL = _pattern(
    _ZH_LEAD,
    _any(
        rf"(?:我|本人|我们|本模型|本助手|恕|[这该此]个?(?:问题|请求|内容|话题)|您的|你的|对此|暂时|目前)[^。！？!?\n]{{0,40}}?{_ZH_DENIES}"
        rf"[^。！？!?\n]{{0,12}}?{_ZH_SERVES}",
        rf"(?:我|本人|我们)?{_ZH_DENIES}[^。！？!?\n]{{0,6}}?{_ZH_SERVES}",
        r"(?:这个?|该|您的|你的)?(?:问题)?(?:我|我们)?(?:帮不了|帮不上|回答不了|答不了|做不到|办不到|无可奉告|无能为力|爱莫能助|恕难从命)",
        rf"{_ZH_AI}",
        r"(?:让)?我们?(?:来)?(?:换|聊|谈)(?:一?个|点)?(?:别的|其他|话题)|换个话题",
        r"[^。！？!?\n]{0,20}(?:违反|违背|不符合|超出)[^。！？!?\n]{0,16}(?:政策|规定|准则|指南|规范|条款|原则|范围)",
        r"(?:请求|内容|问题|回答)[^。！？!?\n]{0,4}(?:被拒绝|被屏蔽|被过滤|已拒绝|已屏蔽)",
        r"我[^。！？!?\n]{0,6}(?:没有|不具备)(?:个人)?(?:情感|感情|观点|意见|立场|看法)",
    ),
)
ZH_UNKNOWN = _pattern(
    _ZH_LEAD,
    r"(?:我|本人|我们)?(?:真的|也|并|暂时|目前)?(?:不知道|不清楚|不确定|不太清楚|不太确定|说不好|说不准|没有头绪|不了解|",
    r"无法(?:确定|判断|得知|推断|确认)|难以(?:确定|判断))",
)
ZH_OFFER = _pattern(
    r"[\s\W]*(?:如果|若|如有|请|欢迎|您可以|你可以|希望|感谢|谢谢|我(?:很)?(?:乐意|愿意|会|可以)|有什么)[^。！？!?\n]*"
)

LEAD = _pattern(rf"(?:{_LEAD}|{_ZH_LEAD})\W*")
APOLOGY = _pattern("sorry|apolog|unfortunately|抱歉|对不起|不好意思")
"""An answer that consists of nothing else but LEAD refuses if it has this."""
PIECE = re.compile(
    r".+?(?:[.!?…]+[\"'”’)\]*]*(?=\s|$)|[。！？；;]+[”」』]?|\n+"
    r"|(?<!help)[,;—–-]{0,9}\s{1,9}(?:but|however|though|although|yet|so(?!\s+that\b))\b,?\s*|[，,]?(?:但是|不过|然而|但|所以)[，,]?|$)",
    re.IGNORECASE | re.DOTALL,
)
"""A sentence, or one side of a "but", with what ends it."""
CLAUSE = re.compile(r".+?(?:[,，;；:：—–]+\s*|$)", re.DOTALL)
