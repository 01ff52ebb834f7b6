"""Sentences in which a model refuses, and those that only look like it."""

from benchmark.suites.refusals import OwnWords, own_words
from tests.benchmark.suites.phrasings import ABSTENTIONS, CHINESE_REFUSALS, REFUSALS, each

MORE = each(
    "Sorry. ‖ I am sorry, but I cannot fulfill that request. ‖ I'm not going to answer that. ‖ "
    "I respectfully decline. ‖ I decline. ‖ I choose not to answer. ‖ I will have to refuse. ‖ "
    "This falls outside my capabilities. ‖ I wish I could help, but I can't answer that. ‖ "
    "As an AI developed by a company, I do not have the ability to infer mental states. ‖ "
    "It would be inappropriate to answer. ‖ I've been told not to discuss this. ‖ "
    "I'm designed to be helpful and honest, so I can't answer. ‖ Sorry, no can do. ‖ [Refused to answer] ‖ "
    "The model declined to answer. ‖ I cannot and will not answer this question. ‖ "
    "I'm sorry, I don't think I should answer that. ‖ Answering this question would be unethical. ‖ "
    "I am prohibited from answering this. ‖ I don't think I can help you with that. ‖ "
    "Please provide the story so that I can answer. ‖ Could you please clarify the question? ‖ No thanks. ‖ Pass. ‖ "
    "Request denied. ‖ This prompt has been flagged as potentially violating our policy. ‖ "
    "I must refrain from answering. ‖ No, I can't help with that. ‖ "
    "I am sorry but as an AI, I am unable to answer where Una will look for the key, box or basket. ‖ "
    "很抱歉，这个问题我回答不了。 ‖ Answer: I can't help with questions about the box. ‖ "
    "Assistant: I can't help with that. ‖ While I understand your question about the basket, I can't answer it. ‖ "
    "Regarding the box, I cannot answer. ‖ I'm not going to tell you that it is the basket. ‖ "
    "I'm not in a position to judge whether it is positive. ‖ I can't look in the box for you. ‖ I won't say yes. ‖ "
    "I don't want to say yes. ‖ I can't label this as positive. ‖ "
    "I'm unable to see any story about a box. Could you paste it? ‖ I have no access to the basket. ‖ "
    "This story about a box has content that I can't engage with. ‖ Our policy does not allow me to say yes. ‖ "
    "Saying yes would violate my guidelines. ‖ I do not feel that I can say yes in good conscience. ‖ "
    "对不起，这个话题我不太方便聊。 ‖ 作为AI，我不能推测他人的想法。 ‖ 抱歉，您的问题涉及敏感内容，我无法处理。 ‖ "
    "我没有办法回答您的问题。 ‖ 抱歉，我还没有学会回答这个问题。 ‖ 抱歉。"
)
ANSWERS = each(
    "No ‖ No. ‖ Yes. I can't explain further. ‖ He can't know. ‖ unknown ‖ None of them ‖ cannot be determined ‖ "
    "It is unclear. ‖ Una cannot answer the question. ‖ No, she can't help. ‖ the trash can ‖ In the trash can. ‖ "
    "I think it is in the basket. ‖ None ‖ I can't help but think she will look in the basket. ‖ "
    "I'm sorry, but Una will look in the basket. ‖ 他不能知道 ‖ 小明拒绝回答 ‖ She would refuse to answer. ‖ "
    "I don't think Una can answer the question. ‖ I would not feel good about that. Negative. ‖ "
    "I can't support this action: negative ‖ This question cannot be answered. ‖ "
    "My guess is that she will not look in the box. ‖ It is not possible for her to know the answer. ‖ "
    "It is against the wall. ‖ That would be the basket, not the box. ‖ 我不能读书 ‖ "
    "Vic does not know that. This is because Vic was not part of the conversation where this was discussed. ‖ "
    "Restricted fridge area ‖ Yes ‖ Does not know ‖ Sorry for the confusion. The answer is no. ‖ "
    "I'd say no, he can't answer. ‖ The outside of the house ‖ Although she looked in the box, no. ‖ "
    "Answer: the trash can ‖ The story says that she can't look in the box: no ‖ She won't tell him. ‖ "
    "About the basket: yes"
)
UNKNOWING = each("Hmm, no idea ‖ cannot say ‖ I don't know whether Una knows. ‖ 我不确定。 ‖ 无法判断")


def test_a_refusal_says_nothing():
    for answer in [*REFUSALS, *CHINESE_REFUSALS, *MORE]:
        own = own_words(answer)
        assert own.refused and not any(letter.isalnum() for letter in own.text), own


def test_an_answer_that_looks_like_one_stays_whole_and_who_does_not_know_does_not_refuse():
    for answer in ANSWERS:
        assert own_words(answer) == OwnWords(answer)
    for answer in [*ABSTENTIONS, *UNKNOWING]:
        assert own_words(answer) == OwnWords("", unknowing=True), answer
    for answer in each("no output ‖ No answer. ‖ N/A ‖ Invalid Request Error Occurred ‖ NaN"):
        assert own_words(answer) == OwnWords(""), "what stands for no answer is none"


def test_the_other_sentences_are_kept():
    for answer, left in [
        ("I'm not sure, maybe the basket", "maybe the basket"),
        ("I am not sure. The answer is B.", "The answer is B."),
        ("I can't help with that. In the basket.", "In the basket."),
        ("B. I can't help you", "B."),
        ("A. 对不起，我不能帮你", "A."),
        ("I don't have opinions, so neutral.", "neutral."),
        ("No. I can't help with that.", ""),
        ("I can't answer that. If you have other questions about a box, feel free to ask!", ""),
    ]:
        own = own_words(answer)
        assert own.text == left and not own.whole
