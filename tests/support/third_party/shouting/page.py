from coeval.domain import Person
from coeval.ui.components.view import View, el
from coeval.ui.tabs import StudyTab, Update


class ShoutTab(StudyTab):
    title, id = "Shout", "shout"

    def build(self) -> None:
        self.word = View(elem_id="shout-word")
        self.outputs = [self.word]

    def load(self, person: Person, slug: str) -> Update:
        return {self.word: el("p", slug.upper())}
