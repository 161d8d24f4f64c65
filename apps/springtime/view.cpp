#include <filesystem>

#include "options.h"
#include "outputs.h"
#include "progress.h"
#include "springtime/export.h"
#include "springtime/files.h"
#include "verbs.h"

namespace springtime::app {

namespace {

struct ViewArguments {
    CommonOptions common;
    EnvironmentOptions environment;
    std::string cloth, compare, out;
    std::vector<std::string> pins;
    int port = 0;
    bool overwrite = false;
    std::optional<Flags> flags;
};

LivePageOptions page_options(const ViewArguments& arguments)
{
    LivePageOptions options;
    options.cloths.push_back(in_run_folder(arguments.cloth));
    if (!arguments.compare.empty()) options.cloths.push_back(in_run_folder(arguments.compare));
    options.environment = environment_from(arguments.environment, {});
    options.pins = arguments.pins;
    return options;
}

int write_page(const ViewArguments& arguments)
{
    const LivePageOptions options = page_options(arguments);
    check_outputs(*arguments.flags, {{"--out", arguments.out}}, arguments.overwrite,
                  options.cloths);
    const std::string page = make_live_page(options);
    write_text(arguments.out, page, arguments.overwrite);
    Result result = Result::tree();
    result.label(arguments.out);
    result.add("out", arguments.out).data_only();
    result.add("bytes", page.size());
    result.say("open it in a browser; it needs no network");
    print(arguments.common, result);
    return kDone;
}

int serve_page(const ViewArguments& arguments)
{
    PageServer server(make_live_page(page_options(arguments)), arguments.port);
    Result result = Result::tree();
    result.label("the cloth is at " + server.address());
    result.add("address", server.address()).data_only();
    result.say("open this address in a browser on this machine; Ctrl-C ends it");
    print(arguments.common, result);
    std::fflush(stdout);  // whoever reads it through a pipe waits for it
    catch_interrupts();
    server.serve([] { return !interrupted(); });
    return kDone;
}

int run_view(const ViewArguments& arguments)
{
    if (!arguments.out.empty() && arguments.flags->given("port")) {
        throw Error("--port: belongs to the server, which --out does not start; give one of them");
    }
    return arguments.out.empty() ? serve_page(arguments) : write_page(arguments);
}

}  // namespace

Verb add_view(CLI::App& root)
{
    auto arguments = std::make_shared<ViewArguments>();
    const Flags flags =
        add_verb(root, "view", "Show a cloth that runs in a browser, to pull at and to paint");
    arguments->flags = flags;
    flags.add("cloth", arguments->cloth, "Cloth file or run folder").required().type("FILE");
    flags.add("--compare", arguments->compare, "Second cloth, which runs beside the first")
        .type("FILE");
    flags
        .add("--out", arguments->out,
             "Page to write, one file that needs no network; without it the page is shown by a "
             "server for this machine alone")
        .type("FILE");
    flags.add("--port", arguments->port, "Port of the server; 0 is any that is free")
        .between(0, 65535);
    flags
        .add("--pin", arguments->pins,
             "Hold these particles to begin with, can be repeated: corner-nw, edge-north, center, "
             "particle:INDEX and so on, as simulate names them")
        .repeated()
        .type("NAME");
    add_environment(flags, arguments->environment);
    add_overwrite(flags, arguments->overwrite);
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_view(*arguments); }};
}

}  // namespace springtime::app
