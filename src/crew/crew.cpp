#include "crew/crew.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "core/parallel.h"
#include "sim/stepper.h"
#include "springtime/error.h"

namespace springtime {

namespace {

enum class Message : std::uint8_t {
    begin,   // a task, with its name and its setup
    end,     // of a task
    tell,    // a task something
    ask,     // a task something
    forget,  // what was asked for
    leave,
};
enum class Outcome : std::uint8_t { answered, bad_input, failed, forgotten };

WireWriter header(Message message, long task)
{
    WireWriter bytes;
    bytes(message, task);
    return bytes;
}

// Waiting must not keep a core busy: it may be the one that another rank needs.
class Patience {
  public:
    void wait()
    {
        using namespace std::chrono_literals;
        if (++turns_ < kBusyTurns) return std::this_thread::yield();
        std::this_thread::sleep_for(std::min(2us * turns_, 500us));
    }

  private:
    static constexpr int kBusyTurns = 50;
    int turns_ = 0;
};

int share_of_cores(const Ranks& ranks, int wanted)
{
    if (wanted > 0) return wanted;
    return std::max(1, thread_count(0) / std::max(1, ranks.sharing()));
}

struct Forgotten {};

// Says every few milliseconds whether the first rank has changed its mind.
class Watch {
  public:
    explicit Watch(Ranks& ranks) : ranks_(ranks) {}

    void look()
    {
        constexpr long kPause = 5'000'000;  // [ns]
        const long now = std::chrono::steady_clock::now().time_since_epoch().count();
        long last = last_;
        if (now - last < kPause || !last_.compare_exchange_strong(last, now)) return;
        if (ranks_.waiting(0)) throw Forgotten{};
    }

  private:
    Ranks& ranks_;
    std::atomic<long> last_{0};
};

// The side of a rank that serves.
class Server {
  public:
    Server(Ranks& ranks, const std::map<std::string, MakeTask>& makers, const OpenMotion& open)
        : ranks_(ranks),
          makers_(makers),
          watch_(ranks),
          tools_{ranks, [this] { watch_.look(); }, open}
    {
    }

    // False when this rank may leave.
    bool serve(const std::vector<std::byte>& bytes)
    {
        WireReader message(bytes);
        const auto what = message.next<Message>();
        const auto task = message.next<long>();
        switch (what) {
            case Message::begin:
                catching(task, [&] {
                    const auto name = message.next<std::string>();
                    tasks_[task] = makers_.at(name)(message, tools_);
                });
                return true;
            case Message::tell:
                if (const auto found = tasks_.find(task); found != tasks_.end()) {
                    catching(task, [&] { found->second->take(message); });
                }
                return true;
            case Message::ask:
                reply(task, message);
                return true;
            case Message::end:
                tasks_.erase(task);
                failures_.erase(task);
                return true;
            case Message::forget:
                return true;  // it was answered before
            case Message::leave:
                return false;
        }
        return false;
    }

  private:
    template <class Work>
    static WireWriter outcome_of(const Work& work)
    {
        WireWriter bytes;
        try {
            work(bytes);
            return bytes;
        } catch (const Forgotten&) {
            bytes = {};
            bytes(Outcome::forgotten);
        } catch (const Error& error) {
            bytes = {};
            bytes(Outcome::bad_input, error.field(), std::string(error.what()));
        } catch (const std::exception& error) {
            bytes = {};
            bytes(Outcome::failed, std::string(error.what()));
        }
        return bytes;
    }

    // What goes wrong before anything is asked for is the answer to the next question.
    template <class Work>
    void catching(long task, const Work& work)
    {
        bool good = false;
        WireWriter outcome = outcome_of([&](WireWriter&) {
            work();
            good = true;
        });
        if (!good) failures_.emplace(task, std::move(outcome));
    }

    void reply(long task, WireReader& request)
    {
        if (const auto failure = failures_.find(task); failure != failures_.end()) {
            return ranks_.send(0, failure->second.bytes());
        }
        const WireWriter outcome = outcome_of([&](WireWriter& bytes) {
            bytes(Outcome::answered);
            tasks_.at(task)->answer(request, bytes);
        });
        ranks_.send(0, outcome.bytes());
    }

    Ranks& ranks_;
    const std::map<std::string, MakeTask>& makers_;
    Watch watch_;
    RankTools tools_;
    std::map<long, std::unique_ptr<RankTask>> tasks_;
    std::map<long, WireWriter> failures_;
};

}  // namespace

int RankTools::threads(int wanted) const
{
    return share_of_cores(ranks, wanted);
}

void serve(Ranks& ranks, const std::map<std::string, MakeTask>& tasks, const OpenMotion& open)
{
    Server server(ranks, tasks, open);
    for (bool stays = true; stays;) {
        Patience patience;
        while (!ranks.waiting(0)) patience.wait();
        stays = server.serve(ranks.receive(0));
    }
}

int cores_of(const Crew* crew)
{
    return crew ? crew->threads(0) : thread_count(0);
}

std::shared_ptr<Crew> lead(Ranks& ranks)
{
    return std::make_shared<Crew>(ranks);
}

Crew::Crew(Ranks& ranks) : ranks_(&ranks), owed_(std::size_t(ranks.count()), 0) {}

Crew::~Crew()
{
    // A rank looks for messages many times a second. One that does not has died with its machine.
    constexpr double kLimit = 10;
    for (int rank = 1; rank < count(); ++rank) {
        if (forget(rank, kLimit)) {
            ranks_->send(rank, header(Message::leave, 0).bytes());
        } else {
            ranks_->abort();
        }
    }
}

int Crew::threads(int wanted) const
{
    return share_of_cores(*ranks_, wanted);
}

bool Crew::forget(int rank, double limit)
{
    using Clock = std::chrono::steady_clock;
    int& owed = owed_[std::size_t(rank)];
    if (owed > 0) ranks_->send(rank, header(Message::forget, 0).bytes());
    const auto begin = Clock::now();
    for (; owed > 0; --owed) {
        Patience patience;
        while (!ranks_->waiting(rank)) {
            if (std::chrono::duration<double>(Clock::now() - begin).count() > limit) return false;
            patience.wait();
        }
        ranks_->receive(rank);
    }
    return true;
}

Crew::Task::Task(Crew& crew, const std::string& name, const WireWriter& setup)
    : crew_(&crew), id_(++crew.tasks_)
{
    WireWriter message = header(Message::begin, id_);
    message(name);
    message.append(setup);
    for (int rank = 1; rank < crew_->count(); ++rank) {
        crew_->forget(rank);
        crew_->ranks_->send(rank, message.bytes());
    }
}

Crew::Task::~Task()
{
    for (int rank = 1; rank < crew_->count(); ++rank) {
        crew_->ranks_->send(rank, header(Message::end, id_).bytes());
    }
}

void Crew::Task::tell(int rank, const WireWriter& message)
{
    WireWriter bytes = header(Message::tell, id_);
    bytes.append(message);
    crew_->forget(rank);
    crew_->ranks_->send(rank, bytes.bytes());
}

void Crew::Task::ask(int rank, const WireWriter& request)
{
    WireWriter bytes = header(Message::ask, id_);
    bytes.append(request);
    crew_->forget(rank);
    crew_->ranks_->send(rank, bytes.bytes());
    ++crew_->owed_[std::size_t(rank)];
}

std::vector<std::byte> Crew::Task::answer(int rank, const std::function<void()>& alive)
{
    Patience patience;
    while (!crew_->ranks_->waiting(rank)) {
        if (alive) alive();
        patience.wait();
    }
    std::vector<std::byte> bytes = crew_->ranks_->receive(rank);
    --crew_->owed_[std::size_t(rank)];
    WireReader message(bytes);
    switch (message.next<Outcome>()) {
        case Outcome::answered:
            bytes.erase(bytes.begin());
            return bytes;
        case Outcome::bad_input: {
            const auto field = message.next<std::string>();
            throw Error(Field{field}, "rank {}: {}", rank, message.next<std::string>());
        }
        default:
            throw Failure("rank {}: {}", rank, message.next<std::string>());
    }
}

std::string device_of(const Cloth& cloth, const SimulationOptions& options)
{
    return make_batch_stepper(cloth, options)->name();
}

void check_same_device(const Cloth& cloth, const SimulationOptions& options,
                       const std::string& of_first)
{
    const std::string own = device_of(cloth, options);
    if (own == of_first) return;
    throw Error(Field{"device"},
                "runs on {}, but the first rank on {}, which rounds differently; start on machines "
                "of one kind",
                own, of_first);
}

std::pair<std::size_t, std::size_t> part_of(std::size_t count, std::size_t group, int number,
                                            int parts)
{
    group = std::clamp<std::size_t>(count / std::size_t(parts), 1, group);
    const std::size_t groups = (count + group - 1) / group;
    const auto bound = [&](int n) {
        return std::min(count, group * (groups * std::size_t(n) / std::size_t(parts)));
    };
    return {bound(number), bound(number + 1)};
}

}  // namespace springtime
