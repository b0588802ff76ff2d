"""The words that announce or join values in the most frequent languages of answers, as pieces of patterns.

Every piece has words of English, German, French, Spanish, Italian, Portuguese and Dutch, because the language of an
answer is not detected.
"""

import re


def _any(*words: str) -> str:
    return "(?:" + "|".join(" ".join(words).split()) + ")"


# Words between a feature and its value. They match as whole words: the German "ist" is not "is" and a "t".
SAYS = (
    r"(?:(?:is|est|es|è|é|ist)\s+(?:equal\s+to|égale?\s+à|igual\s+a|pari\s+a|gleich|de)|equivale\s+a"
    r"|(?:has|hat|a|tiene|ha|tem|heeft)\s+(?:the|den|la|el|il|o|de)?\s*(?:value|wert|valeur|valore?|waarde)(?:\s+(?:of|de|di|von|van))?"
    r"|is|was|equals|ist|war|betr(?:ä|ae)gt|lautet|est|vaut|es|vale|è|é|bedraagt|luidt|wynosi|равно|är|er)\b"
)
SAY = (  # for several values, or an unsure one
    r"(?:are|would\s+be|sind|lauten|w(?:ä|ae)ren?|sont|serai(?:t|ent)|son|ser(?:í|i)an?|sono|sarebbe(?:ro)?|s(?:ã|a)o"
    r"|seriam?|zijn|luiden)\b"
)
SIGNS = r"(?:=>|->|[:=\uff1a\u2248~\u2192\u21d2])"
JOINED = r"(?:and|und|et|y|e|en)"
ARTICLE = (
    r"(?:the|my|its|der|die|das|dem|den|des|mein|meine|la|le|les|ma|mon|el|los|las|mi|il|i|lo|o|os|a|as|minha|meu|het"
    r"|de|mijn)"
)
QUALITY = _any(
    "missing best next last likely probable fehlende[nrs]? gesuchte[nr]? n(?:ä|ae)chste[nr]? beste[nr]?",
    "wahrscheinlichste[nr]? manquante?s? suivante?s? prochaine?s? recherchée?s? faltantes? siguientes? buscado",
    "mancant[ei] successiv[aoi] ausentes? seguintes? ontbrekende volgende",
)
THING = _any(
    "answer value result guess row feature cell",
    "wert(?:e[sn]?)? antwort(?:en)? ergebnis zeile merkmal zelle sch(?:ä|ae)tzung",
    "valeur réponse résultat ligne cellule estimation valor(?:e|es|i)? respuesta resultado fila celda estimación",
    "rispost[ae] risultato rig[ah]e? cella stima resposta linha célula estimativa waarde[n]? antwoord resultaat rij",
)
TAIL = r"(?:\s+(?:que\s+faltan?|que\s+manquent|che\s+mancano?|que\s+faltam?|em\s+falta|qui\s+manque(?:nt)?))"
OF_IT = (  # a word before a feature's name
    r"(?:the|and|of|for|missing|von|vom|f(?:ü|ue)r|der|die|das|des|und|de|du|des|pour|la|le|les|et|del|para|el|los|las"
    r"|y|di|del|della|per|il|lo|e|do|da|o|a|os|as|van|voor|het|en|fehlende[rsn]?|wert|valeur|valor|valore|waarde)"
)
PRESUMABLY = (
    r"(?:most\s+likely|most\s+probably|likely|probably|presumably|approximately|approx\.?|about|around|roughly|circa|ca\."
    r"|ungef(?:ä|ae)hr|etwa|wahrscheinlich|vermutlich|rund|sch(?:ä|ae)tzungsweise|wohl"
    r"|environ|probablement|approximativement|autour\s+de|à\s+peu\s+près"
    r"|aproximadamente|probablemente|alrededor\s+de|unos|unas|cerca\s+de"
    r"|probabilmente|approssimativamente|intorno\s+a|provavelmente|waarschijnlijk|ongeveer)"
)
IT_IS = (
    r"(?:it(?:['\u2019]s|\s+is|\s+was|\s+would\s+be)|es\s+(?:ist|sind|w(?:ä|ae)re)|c['\u2019]est|ce\s+serait|il\s+s'agit\s+de"
    r"|se\s+trata\s+de|es|ser(?:í|i)a|è|é|het\s+is)\b"
)
I_THINK = (
    r"(?:i(?:\s+would|['\u2019]d)?\s+(?:guess|think|say)(?:\s+it\s+is)?"
    r"|ich\s+(?:denke|glaube|sch(?:ä|ae)tze|vermute|w(?:ü|ue)rde\s+sagen)(?:\s*,?\s*(?:dass\s+)?es\s+ist)?\s*[,:]?"
    r"|je\s+(?:pense|crois|dirais)(?:\s+que\s+c['\u2019]est)?\s*[,:]?|creo\s+que(?:\s+es)?|dir(?:í|i)a(?:\s+que)?(?:\s+es)?"
    r"|penso\s+(?:che\s+sia|sia)?|acho\s+que(?:\s+é)?|ik\s+denk(?:\s+dat\s+het)?)"
)
CALL = (  # words that may be alone before an answer
    r"(?:sure|certainly|of\s+course|okay|ok|sorry|hello|please|nat(?:ü|ue)rlich|gerne?|klar|sicher|selbstverst(?:ä|ae)ndlich"
    r"|bien\s+s(?:û|u)r|d['\u2019]accord|voil(?:à|a)|certainement|por\s+supuesto|claro(?:\s+que\s+s(?:í|i))?"
    r"|con\s+gusto|certo|certamente|con\s+piacere|com\s+certeza|natuurlijk|zeker|graag)"
)
OPENING = (  # beginnings of lines that do not contain the answer
    r"(?:here\s+(?:is|are|you)|let\s+me|based\s+on|interesting|hier\s+(?:ist|sind|is|zijn)|basierend\s+auf|anhand\s+der"
    r"|entschuldig|es\s+tut\s+mir|leider|voici|d['\u2019]apr(?:è|e)s|selon|d(?:é|e)sol(?:é|e)|malheureusement|aqu(?:í|i)\s+"
    r"(?:est(?:á|a)n?|tiene)|seg(?:ú|u)n|lo\s+siento|ecco|mi\s+dispiace|in\s+base|aqui\s+est(?:á|ã|a)o?|desculpe|gebaseerd"
    r"|het\s+spijt)"
)
UNKNOWN = (
    r"(?:unknown|n\W?/?a|none|nothing|no\s+idea|unbekannt|keine\s+ahnung|k\.\s?a\.|nicht\s+bekannt|weiss\s+nicht"
    r"|wei(?:ß|ss)\s+ich\s+nicht|inconnue?s?|aucune\s+idée|desconocid[oa]|ni\s+idea|no\s+(?:lo\s+)?s(?:é|e)|sconosciut[oa]"
    r"|non\s+(?:lo\s+)?so|desconhecid[oa]|n(?:ã|a)o\s+sei|onbekend|geen\s+idee)"
)
REFUSES = (
    r"(?:ich\s+(?:kann|konnte|wei(?:ß|ss)|habe)\s+(?:es\s+|das\s+|dies\s+|den\s+wert\s+|leider\s+)*(?:nicht|keine[nrm]?\b)"
    r"|tut\s+mir\s+leid|kann\s+ich\s+(?:leider\s+)?nicht|nicht\s+(?:m(?:ö|oe)glich|bestimmbar)|keinen\s+zugriff"
    r"|je\s+(?:ne\s+)?(?:peux|sais|dispose|connais)\s+pas|je\s+suis\s+d(?:é|e)sol(?:é|e)|impossible\s+de"
    r"|no\s+(?:puedo|tengo\s+acceso|lo\s+s(?:é|e)\b|es\s+posible)|lo\s+siento|mi\s+dispiace|non\s+(?:posso|ho\s+accesso)"
    r"|n(?:ã|a)o\s+(?:posso|tenho\s+acesso|sei\b)|ik\s+(?:kan|weet)\s+(?:het\s+|dit\s+)?niet|geen\s+toegang)"
)
# Refusals in other words. Each names the answerer, the question or the value, which cells and news texts hardly do:
# "prefer not to say" is a value of many surveys, and "privacy concerns" are in many texts.
_ASKED_FOR = r"(?:(?:exact|true|actual|missing|next|hidden)\s+)?(?:value|row|cell|entry|answer|line)s?"
_SAY = (
    r"(?:say|answer|tell|share|disclose|reveal|provide|give|guess|speculate|recite|reproduce|repeat|respond|comment"
    r"|comply|do\s+(?:that|this|so))"
)
_WAY = r"(?:raises?|poses?|causes?|creates?|violates?|breach(?:es)?|be|is|present)"
DECLINES_POLITELY = "(?:" + "|".join((
    rf"i(?:'d|\s+would)?\s+(?:rather|prefer|choose)\s+not(?:\s+to)?(?:\s+{_SAY}|\s*[.!]|\s*$)",
    rf"i(?:\s+will\s+not|\s+won't|\s+shall\s+not|\s+must\s+not|\s+may\s+not|'m\s+not\s+(?:going|willing|allowed)\s+to)\s+{_SAY}\b",
    r"i(?:\s+must|\s+have\s+to|'ll\s+have\s+to|\s+respectfully|\s+will\s+have\s+to)\s+(?:decline|refuse|pass)\b",
    rf"i\s+(?:decline|refuse)(?:\s+to\s+{_SAY}|\s*[.!]|\s*$)",
    r"i(?:'m|\s+am)\s+(?:not|un)\s*comfortable\s+(?:with\s+)?(?:sharing|answering|giving|providing|guessing|disclosing)",
    r"i(?:'m|\s+am)\s+(?:not\s+(?:sure|certain)|uncertain|unsure)\s*"
    rf"(?:(?:what|which|of)\s+(?:it\b|that\b|this\b|(?:the\s+)?{_ASKED_FOR}\b)[^.,;:\n]*)?(?:\.|$)",
    rf"i(?:'m|\s+am)\s+not\s+(?:aware\s+of|familiar\s+with)\s+(?:this|that|the|such\s+an?)\s+(?:dataset|data\s+set|table|file|{_ASKED_FOR})",
    r"i(?<!\bno,\si)(?<!\bno\.\si)(?:'ve|\s+have)\s*(?:never|n't|not)\s+(?:seen|read|memori[sz]ed)\s+(?:this|that|the|such)\s+"
    r"(?:an?\s+)?(?:dataset|data|file|table|row)",
    r"i\s+(?:lack|have\s+no)\s+(?:access|data|record|recollection|knowledge|means|(?:the|that|this|any|such)\s+"
    r"(?:data|information|value))\b",
    rf"(?:that|this|the)\s+{_ASKED_FOR}\s+(?:is|are|remains?)\s+(?:not\s+(?:known|available|accessible)|unknown|unavailable)"
    r"(?:\s+to\s+me)?\s*(?:\.|$)",
    r"(?:not\s+known|unknown|not\s+available|unavailable|not\s+accessible)\s+to\s+me\b",
    r"(?:that|this|such)\s+(?:information|data)\s+(?:is|are|isn't|is\s+not)\s+(?:not\s+)?"
    r"(?:confidential|private|available|accessible|public)\s*(?:\.|$|to\s+me)",
    rf"(?:that|this|it|doing\s+so|answering|sharing\s+(?:that|this|it))(?:\s+(?:would|could|might|may)|'d)?\s+{_WAY}\s+"
    r"(?:an?\s+|the\s+|a\s+serious\s+|(?:some|any)one's\s+|their\s+)?(?:privacy|confidentiality|data\s+protection)\b"
    r"(?:\s+(?:problem|issue|concern|violation|breach|risk|law)s?)?\s*(?:\.|,|$)",
    r"(?:for|out\s+of|because\s+of|due\s+to)\s+(?:privacy|confidentiality|reasons\s+of\s+privacy)(?:\s+(?:reason|concern)s)?,\s+i\b",
    r"(?:against|violates?)\s+(?:my|our|openai's|the)\s+(?:usage\s+|content\s+)?(?:policy|policies|guidelines|rules)\s*(?:\.|$)",
    r"(?:cannot|can't|can\s+not|could\s+not)\s+be\s+(?:answered|inferred|recalled|retrieved|deduced)\b",
    r"no\s+way\s+(?:of\s+knowing|for\s+me\s+to)",
    r"your\s+guess\s+is\s+as\s+good\s+as\s+mine",
    # German
    r"(?:ich\s+m(?:ö|oe)chte|m(?:ö|oe)chte\s+ich|ich\s+w(?:ü|ue)rde|w(?:ü|ue)rde\s+ich|ich\s+will|ich\s+werde|werde\s+ich|ich\s+darf|darf\s+ich)"
    r"\s+(?:(?:das|es|dies|dazu|hier|dir|ihnen|leider|lieber|eher)\s+)*(?:nicht|nichts|keine)\s+"
    r"(?:sagen|beantworten|verraten|nennen|antworten|preisgeben|mitteilen|angeben|angabe|raten|spekulieren|weitergeben)",
    r"mir\s+(?:leider\s+)?(?:nicht\s+bekannt|unbekannt|unm(?:ö|oe)glich)|wei(?:ß|ss)\s+ich\s+(?:leider\s+)?nicht",
    r"(?:das|dies|es)\s+(?:w(?:ä|ae)re|ist)\s+(?:ein\s+datenschutz\w*|aus\s+datenschutzgr(?:ü|ue)nden\s+nicht)",
    r"l(?:ä|ae)sst\s+sich\s+(?:\w+\s+){0,3}nicht\s+(?:sagen|bestimmen|ermitteln|feststellen|beantworten)",
    r"ich\s+bin\s+mir\s+(?:da\s+)?nicht\s+sicher\s*(?:\.|$)|ich\s+bin\s+nicht\s+(?:befugt|berechtigt|in\s+der\s+lage)",
    r"ich\s+verf(?:ü|ue)ge\s+(?:nicht\s+)?(?:ü|ue)ber\s+(?:kein|die|diese)|da(?:zu)?\s+liegen\s+mir\s+keine|ich\s+muss\s+(?:leider\s+)?passen",
    r"ich\s+kann\s+(?:dazu|das|es|hierzu|hier)\s+(?:leider\s+)?nichts\b|da\s+bin\s+ich\s+(?:leider\s+)?(?:ü|ue)berfragt",
    # French
    r"je\s+(?:pr(?:é|e)f(?:è|e)re(?:rais)?\s+ne\s+pas|n(?:e\s+|')[^.,;:\n]{1,40}\bpas\b|n'ai\s+aucune?|l'ignore|refuse\s+de)",
    r"(?:cela|ça|ca|ce)\s+(?:poserait|pose|serait|est)\s+(?:un\s+)?(?:probl(?:è|e)me|question|violation)\s+de\s+"
    r"(?:la\s+)?(?:confidentialit(?:é|e)|vie\s+priv(?:é|e)e)",
    r"(?:ne\s+m'est\s+pas|m'est)\s+(?:connue?s?|inconnue?s?|impossible)",
    # Spanish
    r"(?:prefiero|preferir(?:í|i)a)\s+no\s+(?:decir|responder|contestar|revelar|compartir|darl)",
    r"(?:eso|esto)\s+(?:ser(?:í|i)a|es|supondr(?:í|i)a|plantea(?:r(?:í|i)a)?)\s+un\s+problema\s+de\s+(?:privacidad|confidencialidad)",
    r"(?:no\s+me\s+es|me\s+es)\s+(?:conocid[oa]|desconocid[oa]|imposible|posible)",
    r"no\s+(?:conozco|dispongo|s(?:é|e)\s+(?:el|la|cu(?:á|a)l|qu(?:é|e))|sabr(?:í|i)a\s+decir|me\s+consta|estoy\s+segur[oa]"
    r"|tengo\s+(?:es[ae]|informaci(?:ó|o)n|datos|forma|manera|idea)|voy\s+a\s+(?:decir|responder|revelar|compartir|adivinar)"
    r"|quiero\s+(?:decir|responder)|debo\s+(?:decir|responder|revelar|compartir)|me\s+acuerdo)",
    # Italian, Portuguese, Dutch
    r"preferisco\s+non|non\s+(?:conosco|dispongo|mi\s+è\s+not[oa])|prefiro\s+n(?:ã|a)o|n(?:ã|a)o\s+(?:conheço|me\s+é\s+conhecid[oa])"
    r"|ik\s+(?:zeg|geef)\s+(?:dat|het)\s+liever\s+niet|mij\s+niet\s+bekend",
)) + ")"  # fmt: skip
EITHER = r"(?:or|oder|ou|o|ó|of|bzw\.?)"
BECAUSE = (
    r"(?:because|since|as|which|based|weil|da|denn|car|parce|puisque|porque|ya\s+que|perch(?:é|e)|poich(?:é|e)|omdat)"
)
TAKEN_BACK = rf"(?:{EITHER}|wait|actually|hmm|wrong|instead|rather|falsch|doch|sondern|eher|plut(?:ô|o)t|sino)\b"
# Words after a number that change the number, or deny it. Any other single word is a unit.
NO_UNIT = (
    r"(?:or|to|and|oder|bis|und|ou|à|et|o|u|y|e|a|hasta|of|tot|en|hundreds?|thousands?|millions?|billions?|trillions?"
    r"|dozens?|hundert|tausend|million(?:en)?|mio|mrd|milliarden?|cents?|mille|milliers?|milliards?|cien(?:tos)?|mil|miles"
    r"|mill(?:ó|o)n(?:es)?|cento|mila|milion[ei]|miliard[oi]|milh(?:ã|a)o|milh(?:õ|o)es|honderd|duizend|miljoen|miljard"
    r"|k|mn|bn|plus|minus|times|mal|mehr|weniger|moins|m(?:á|a)s|menos|more|less|fewer|higher|lower|over|under|half|point"
    r"|komma|comma|virgule|coma|squared|not|nicht|pas|no|nein|non|wrong|falsch|maybe|perhaps|vielleicht|instead|rather"
    r"|otherwise|odd|ish|but|aber|mais|pero|wait|actually|hmm|is|ist|est|es|through|until|per|by|x)"
)
FILLER = re.compile(
    rf"^(?:(?:{CALL}|{OPENING})\b.*|i .*|(?:the|my) (?:row|answer|value|guess)[^:]*:?\s*"
    rf"|{ARTICLE}\s+(?:{QUALITY}\s+)?{THING}[^:]*:\s*|#*\s*(?:final )?answer)$",
    re.IGNORECASE,
)
NOT = re.compile(
    r"\b(?:not|no|never|nicht|kein\w*|nor|non|ne|pas|nie|niet|geen|sin|neither|cannot|except|without|nothing)\b|n't\b",
    re.IGNORECASE,
)
ELSEWHERE = re.compile(
    r"\b(?:previous|preceding|another|different)\s+row\b|\brow\s+(?:before|after|above|below)\b", re.IGNORECASE
)
AFRESH = re.compile(  # phrases that take back the answer, or the doubt, before them
    r"(?:^|[.?!,;:\n\u2014-]\s*)(?:no[,.]?\s+|oh[,.]?\s+)?(?:wait|actually|correction|scratch that|sorry|oops|i mean"
    r"|my mistake|on second thought|let me correct \w+|i made an? (?:mistake|error))\b[,.:!]?"
    r"|(?:\b(?:not|cannot)|n't)\b[^.\n]*?\bbut\b",
    re.IGNORECASE,
)
UNSURE = re.compile(r"\b(?:might|maybe|perhaps|possibly|could) (?:\w+ )?be\b", re.IGNORECASE)
