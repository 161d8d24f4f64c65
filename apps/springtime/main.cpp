#include "verbs.h"

using namespace springtime::app;

int main(int argc, char** argv)
{
    return run_program(
        {add_generate, add_import, add_train, add_evaluate, add_simulate, add_inspect, add_export,
         add_report, add_render, add_view, add_sweep, add_reproduce, add_demo},
        {argv + 1, argv + argc});
}
