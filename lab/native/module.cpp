// The Python module of training: the core's own games, and people's, to learn from.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_othello_training(nb::module_& m);  // bindings_othello_training.cpp
void bind_linear_training(nb::module_& m);   // bindings_linear_training.cpp
void bind_self_play(nb::module_& m);         // bindings_self_play.cpp
void bind_human_games(nb::module_& m);       // bindings_human_games.cpp

NB_MODULE(_training, m) {
    m.doc() = "Training in C++: self-play and learning of evaluations.";
    // The evaluations and networks that training starts from are the engine's.
    nb::module_::import_("engine._native");
    bind_othello_training(m);
    bind_linear_training(m);
    bind_self_play(m);
    bind_human_games(m);
}
