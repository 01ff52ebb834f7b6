from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from django import forms

from annotation.forms.corpus import FilesField
from benchmark.models import AnswerFormat
from benchmark.services.prompt_sets import LARGEST
from benchmark.suites.contract import Suite
from benchmark.suites.prompt_sets import PromptSets
from core.duplicates import first_duplicate
from core.messages import Sentence, gettext_noop, word
from core.page_fields import PageForm


class PromptSetForm(PageForm):
    name = forms.SlugField(
        max_length=60,
        help_text=gettext_noop("What runs call it. Letters, digits, hyphens."),
        error_messages={
            "invalid": gettext_noop(
                "A name of letters, digits, hyphens and underscores is expected, such as our-prompts-2."
            )
        },
    )
    files: Any = FilesField(label=gettext_noop("Files (.txt)"))

    def __init__(self, *args: Any, prompting: PromptSets[Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["files"].help_text = Sentence(
            "All files of the set at once, such as {example_file}.", example_file=prompting.example_file
        )

    def clean_files(self) -> dict[str, bytes]:
        files = self.cleaned_data["files"]
        if sum(file.size for file in files) > LARGEST:
            raise forms.ValidationError(gettext_noop("The files are larger than 1 MB together."))
        names = [PurePath(file.name).name for file in files]
        if twice := first_duplicate(names):
            raise forms.ValidationError(Sentence("There are two files called {twice}.", twice=twice))
        return {name: file.read() for name, file in zip(names, files, strict=True)}


class PromptChoice(PageForm):
    """The choice of the prompt of a set that is shown."""

    step = forms.ChoiceField(label=gettext_noop("Step"))
    level = forms.TypedChoiceField(choices=[(level, str(level)) for level in (1, 2, 3, 4)], coerce=int)
    answer_format = forms.ChoiceField(label=gettext_noop("Answer format"), choices=AnswerFormat.choices)
    filled = forms.ChoiceField(required=False, label=gettext_noop("Shown as"))

    def __init__(self, data: Mapping[str, Any] | None = None, *, suite: Suite) -> None:
        super().__init__(data)
        self.fields["step"].choices = [(step.key, step.label) for step in suite.launched]
        self.fields["filled"].choices = [
            ("", gettext_noop("The wording")),
            ("1", Sentence("Filled in with a {noun}", noun=word(suite.noun[0]))),
        ]
