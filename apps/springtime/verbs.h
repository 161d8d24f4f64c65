#pragma once

#include "flags.h"

namespace springtime::app {

Verb add_generate(CLI::App& root);
Verb add_import(CLI::App& root);
Verb add_train(CLI::App& root);
Verb add_evaluate(CLI::App& root);
Verb add_simulate(CLI::App& root);
Verb add_inspect(CLI::App& root);
Verb add_export(CLI::App& root);
Verb add_report(CLI::App& root);
Verb add_render(CLI::App& root);
Verb add_view(CLI::App& root);
Verb add_sweep(CLI::App& root);
Verb add_reproduce(CLI::App& root);
Verb add_demo(CLI::App& root);

}  // namespace springtime::app
