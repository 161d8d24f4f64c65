#include <csignal>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

#include "baseline.h"
#include "tensor_file.h"

// springtime-baseline train|evaluate: `springtime reproduce generalisation --baselines` calls it.
// It has no more than LibTorch to build with, so it reads its few flags itself.
namespace springtime::baselines {

namespace {

constexpr const char* kUsage =
    R"(springtime-baseline: the neural baselines of `springtime reproduce`

  springtime-baseline train --kind mgn|ode --motion FILE --out FOLDER
      --steps N           in all, earlier runs included (500000 for mgn, 20000 for ode)
      --minutes M         of this run; it leaves a checkpoint, and the same command goes on
      --noise S [S ...]   mgn: noise on positions [m]; the best of several is found by trial (0.01)
      --trial-steps N, --trial-minutes M    of each trial (3000, no limit)
      --every K           mgn: frames of the motion in one step (1)
      --batch N, --rate R, --seed N, --validate-every N
      --hidden N, --layers N, --clip-steps N    smaller networks and clips, for tests
      --device auto|cpu|cuda, --bfloat16, --no-graphs, --quiet
  springtime-baseline evaluate --model FILE --motion FILE [FILE ...] --out FILE [FILE ...]
      --device auto|cpu|cuda, --positions    also writes the predicted motion
)";

using Values = std::vector<std::string>;

// Words after each flag.
std::map<std::string, Values> flags_of(int count, char** words)
{
    std::map<std::string, Values> flags;
    std::string flag;
    for (int i = 2; i < count; ++i) {
        const std::string word = words[i];
        if (word.rfind("--", 0) == 0) {
            flag = word;
            flags[flag];
        } else if (flag.empty()) {
            throw BadInput("found '" + word + "', but a flag was needed; see --help");
        } else {
            flags[flag].push_back(word);
        }
    }
    return flags;
}

double number_of(const std::string& flag, const std::string& word)
{
    std::istringstream text(word);
    double value = 0;
    if (!(text >> value) || !text.eof() || value < 0) {
        throw BadInput(flag + ": found '" + word + "', but a number of 0 or more is needed");
    }
    return value;
}

const std::string& only(const std::string& flag, const Values& values)
{
    if (values.size() == 1) return values[0];
    throw BadInput(flag + ": found " + std::to_string(values.size()) +
                   " values, but one is needed; see --help");
}

using Setter = std::function<void(const std::string& flag, const Values&)>;

void set_all(const std::map<std::string, Values>& given, const std::map<std::string, Setter>& known)
{
    for (const auto& [flag, values] : given) {
        const auto setter = known.find(flag);
        if (setter == known.end()) throw BadInput(flag + ": unknown; see --help");
        setter->second(flag, values);
    }
}

template <class T>
Setter number(T& value)
{
    return [&value](const std::string& flag, const Values& values) {
        value = T(number_of(flag, only(flag, values)));
    };
}
template <class T>
Setter word(T& value)
{
    return [&value](const std::string& flag, const Values& values) { value = only(flag, values); };
}
Setter on(bool& value, bool state = true)
{
    return [&value, state](const std::string&, const Values&) { value = state; };
}

void need(bool good, const char* flag)
{
    if (!good) throw BadInput(std::string(flag) + ": is missing; see --help");
}

int run_train(const std::map<std::string, Values>& flags)
{
    TrainOptions o;
    const Setter noise = [&](const std::string& flag, const Values& values) {
        for (const std::string& v : values) o.noise.push_back(number_of(flag, v));
    };
    set_all(flags, {{"--kind", word(o.kind)},
                    {"--motion", word(o.motion)},
                    {"--out", word(o.out)},
                    {"--steps", number(o.steps)},
                    {"--minutes", number(o.minutes)},
                    {"--noise", noise},
                    {"--trial-steps", number(o.trial_steps)},
                    {"--trial-minutes", number(o.trial_minutes)},
                    {"--every", number(o.every)},
                    {"--batch", number(o.batch)},
                    {"--rate", number(o.rate)},
                    {"--seed", number(o.seed)},
                    {"--validate-every", number(o.validate_every)},
                    {"--hidden", number(o.hidden)},
                    {"--layers", number(o.layers)},
                    {"--clip-steps", number(o.clip_steps)},
                    {"--device", word(o.device)},
                    {"--bfloat16", on(o.half)},
                    {"--no-graphs", on(o.graphs, false)},
                    {"--quiet", on(o.quiet)}});
    need(!o.kind.empty(), "--kind");
    need(!o.motion.empty(), "--motion");
    need(!o.out.empty(), "--out");
    if (o.every < 1) throw BadInput("--every: found 0, but at least 1 is needed");
    return train(o) ? 0 : 1;
}

int run_evaluate(const std::map<std::string, Values>& flags)
{
    EvaluateOptions o;
    const auto paths = [](std::vector<std::filesystem::path>& list) -> Setter {
        return [&list](const std::string&, const Values& values) {
            list.assign(values.begin(), values.end());
        };
    };
    set_all(flags, {{"--model", word(o.model)},
                    {"--motion", paths(o.motions)},
                    {"--out", paths(o.outs)},
                    {"--device", word(o.device)},
                    {"--positions", on(o.positions)}});
    need(!o.model.empty(), "--model");
    need(!o.motions.empty(), "--motion");
    if (o.outs.size() != o.motions.size()) {
        throw BadInput("--out: found " + std::to_string(o.outs.size()) + " files, but " +
                       std::to_string(o.motions.size()) + " are needed, one for each --motion");
    }
    evaluate(o);
    return 0;
}

int run(int count, char** words)
{
    const std::string verb = count > 1 ? words[1] : "--help";
    if (verb == "--help" || verb == "-h") {
        std::cout << kUsage;
        return 0;
    }
    const auto flags = flags_of(count, words);
    if (flags.count("--help") > 0) {
        std::cout << kUsage;
        return 0;
    }
    if (verb == "train") return run_train(flags);
    if (verb == "evaluate") return run_evaluate(flags);
    throw BadInput("found '" + verb + "', but train or evaluate is needed");
}

}  // namespace

}  // namespace springtime::baselines

int main(int count, char** words)
{
    using namespace springtime::baselines;
    for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, [](int) { stop_soon(); });
    try {
        return run(count, words);
    } catch (const BadInput& error) {
        std::cerr << "springtime-baseline: " << error.what() << '\n';
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "springtime-baseline: " << error.what() << '\n';
        return 1;
    }
}
