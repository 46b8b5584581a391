"""All experiments by name; a module is imported when its experiment is used."""

from importlib import import_module

from bot.experiments.experiment import Experiment

EXPERIMENTS = {
    "figure-6": "bot.experiments.gordon_reda.figure_6:Figure6",
    "figure-8": "bot.experiments.gordon_reda.figure_8:Figure8",
    "figure-9": "bot.experiments.gordon_reda.figure_9:TrapsAndPeople",
    "figures-3-to-5": "bot.experiments.gordon_reda.formulas:Formulas",
    "table-1": "bot.experiments.table_1:Table1",
    "pathology": "bot.experiments.pathology:Pathology",
    "deeper-search": "bot.experiments.deeper_search:DeeperSearch",
    "blog-400": "bot.experiments.blog_400:Blog400",
    "slides": "bot.experiments.slides:Slides",
    "ablation": "bot.experiments.ablation:Ablation",
}
"""Where each experiment's class is, in the order of docs/papers.md."""


def get_experiment(name: str) -> Experiment:
    """The experiment with a name.

    Raises:
        KeyError: There is none.
    """
    module, _, made = EXPERIMENTS[name].partition(":")
    experiment: Experiment = getattr(import_module(module), made)()
    return experiment
