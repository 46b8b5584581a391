"""All experiments, keyed by name; each module is imported only when its experiment is used."""

from pkgutil import resolve_name

from lab.experiments.experiment import Experiment

EXPERIMENTS = {
    "figure-6": "lab.experiments.gordon_reda.figure_6:Figure6",
    "figure-8": "lab.experiments.gordon_reda.figure_8:Figure8",
    "figure-9": "lab.experiments.gordon_reda.figure_9:TrapsAndPeople",
    "figures-3-to-5": "lab.experiments.gordon_reda.formulas:Formulas",
    "table-1": "lab.experiments.table_1:Table1",
    "opponent-depth": "lab.experiments.opponent_depth:OpponentDepth",
    "pathology": "lab.experiments.pathology:Pathology",
    "deeper-search": "lab.experiments.deeper_search:DeeperSearch",
    "blog-400": "lab.experiments.blog_400:Blog400",
    "slides": "lab.experiments.slides:Slides",
    "paper-on-strong": "lab.experiments.gordon_reda.paper_on_strong:PaperOnStrong",
    "full-strength": "lab.experiments.full_strength.reach:FullStrengthReach",
    "ablation": "lab.experiments.ablation:Ablation",
}
"""Module and class of each experiment, in the order of docs/research/papers.md."""


def get_experiment(name: str) -> Experiment:
    """Return the experiment with the given name.

    Raises:
        KeyError: No experiment has this name.
    """
    experiment: Experiment = resolve_name(EXPERIMENTS[name])()
    return experiment
