#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "springtime/error.h"
#include "springtime/ranks.h"

namespace springtime {

namespace {

constexpr int kTag = 20;
constexpr std::size_t kPiece = std::size_t(1) << 30;  // MPI counts bytes with an int

// How many ranks of a machine may use a core that this one may use. Where the system does not tell,
// it is taken to be any.
int ranks_with_same_cores(MPI_Comm machine)
{
    int count = 1;
    MPI_Comm_size(machine, &count);
    cpu_set_t own;
    if (sched_getaffinity(0, sizeof(own), &own) != 0) std::memset(&own, 0xff, sizeof(own));
    std::vector<cpu_set_t> all(static_cast<std::size_t>(count));
    MPI_Allgather(&own, sizeof(own), MPI_BYTE, all.data(), sizeof(own), MPI_BYTE, machine);
    return int(std::count_if(all.begin(), all.end(), [&](const cpu_set_t& other) {
        cpu_set_t both;
        CPU_AND(&both, &own, &other);
        return CPU_COUNT(&both) > 0;
    }));
}

// The ranks of an MPI job. A message is its size, then its bytes in pieces. MPI by itself waits
// busily; here a core that waits is left to others.
class MpiRanks : public Ranks {
  public:
    MpiRanks()
    {
        int level = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
        if (level < MPI_THREAD_SERIALIZED) {
            throw Failure(
                "MPI: this build of it allows no threads; use one with MPI_THREAD_SERIALIZED");
        }
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &count_);
        MPI_Comm machine;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
        MPI_Comm_rank(machine, &place_);
        MPI_Comm_size(machine, &beside_);
        sharing_ = ranks_with_same_cores(machine);
        MPI_Comm_free(&machine);
    }
    ~MpiRanks() override { MPI_Finalize(); }

    int rank() const override { return rank_; }
    int count() const override { return count_; }
    int beside() const override { return beside_; }
    int place() const override { return place_; }
    int sharing() const override { return sharing_; }

    void send(int to, std::span<const std::byte> message) override
    {
        const std::uint64_t size = message.size();
        send_piece(to, &size, sizeof(size));
        for (std::size_t at = 0; at < message.size(); at += kPiece) {
            send_piece(to, message.data() + at, std::min(kPiece, message.size() - at));
        }
    }

    bool waiting(int from) override
    {
        const std::lock_guard lock(mutex_);
        int arrived = 0;
        MPI_Iprobe(from, kTag, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
        return arrived != 0;
    }

    std::vector<std::byte> receive(int from) override
    {
        std::uint64_t size = 0;
        receive_piece(from, &size, sizeof(size));
        std::vector<std::byte> message(size);
        for (std::size_t at = 0; at < size; at += kPiece) {
            receive_piece(from, message.data() + at, std::min<std::size_t>(kPiece, size - at));
        }
        return message;
    }

    void abort() override { MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); }

  private:
    void send_piece(int to, const void* bytes, std::size_t size)
    {
        MPI_Request request;
        {
            const std::lock_guard lock(mutex_);
            MPI_Isend(bytes, int(size), MPI_BYTE, to, kTag, MPI_COMM_WORLD, &request);
        }
        wait(request);
    }
    void receive_piece(int from, void* bytes, std::size_t size)
    {
        MPI_Request request;
        {
            const std::lock_guard lock(mutex_);
            MPI_Irecv(bytes, int(size), MPI_BYTE, from, kTag, MPI_COMM_WORLD, &request);
        }
        wait(request);
    }
    void wait(MPI_Request& request)
    {
        using namespace std::chrono_literals;
        for (int turn = 0;; ++turn) {
            int done = 0;
            {
                const std::lock_guard lock(mutex_);
                MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            }
            if (done) return;
            if (turn < 1000) {
                std::this_thread::yield();
            } else {
                std::this_thread::sleep_for(50us);
            }
        }
    }

    int rank_ = 0, count_ = 1, beside_ = 1, place_ = 0, sharing_ = 1;
    std::mutex mutex_;
};

}  // namespace

}  // namespace springtime

// What the program looks for: null if the two are of different versions.
extern "C" springtime::Ranks* springtime_open_ranks(const char* version)
{
    if (std::string_view(version) != springtime::kVersion) return nullptr;
    return std::make_unique<springtime::MpiRanks>().release();
}
