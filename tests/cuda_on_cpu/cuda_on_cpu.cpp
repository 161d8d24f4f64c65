#include "cuda_runtime.h"

#include <ucontext.h>

#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace cuda_on_cpu {

namespace {

struct Barrier {
    int members = 0, arrived = 0;
    long passed = 0;

    void open()
    {
        arrived = 0;
        ++passed;
    }
};

struct Block {
    std::vector<char> shared;
    Barrier barrier;
    std::vector<Barrier> warps;
    std::vector<double> room;  // 32 for every warp
};

constexpr std::size_t kStack = 128 << 10;  // [bytes]

struct Thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    Here here;
    int block = 0, warp = 0, lane = 0;
    bool ended = false;
};

// The threads of one cluster. They run in turns, in their order.
struct Cluster {
    std::vector<Block> blocks;
    std::vector<Thread> threads;
    Barrier barrier;
    const std::function<void()>* body = nullptr;
    std::size_t running = 0, alive = 0;
    long moves = 0;  // barriers passed and threads ended
    ucontext_t home;
};

Cluster* present = nullptr;

Thread& thread()
{
    return present->threads[present->running];
}

void run_next()
{
    Cluster& c = *present;
    const std::size_t from = c.running;
    do c.running = (c.running + 1) % c.threads.size();
    while (c.threads[c.running].ended && c.running != from);
    if (c.running != from) swapcontext(&c.threads[from].context, &c.threads[c.running].context);
}

void wait(Barrier& barrier)
{
    Cluster& c = *present;
    const long before = barrier.passed;
    if (++barrier.arrived == barrier.members) {
        barrier.open();
        ++c.moves;
    }
    std::size_t idle = 0;
    long moves = c.moves;
    while (barrier.passed == before) {
        run_next();
        idle = moves == c.moves ? idle + 1 : 0;
        moves = c.moves;
        if (idle > 4 * c.threads.size()) {
            std::fprintf(stderr, "CUDA on CPU: threads wait at different barriers\n");
            std::abort();
        }
    }
}

void leave(Barrier& barrier)
{
    --barrier.members;
    if (barrier.members > 0 && barrier.arrived == barrier.members) barrier.open();
}

void enter()
{
    (*present->body)();
    Cluster& c = *present;
    Thread& t = thread();
    t.ended = true;
    --c.alive;
    ++c.moves;
    Block& block = c.blocks[std::size_t(t.block)];
    leave(block.warps[std::size_t(t.warp)]);
    leave(block.barrier);
    leave(c.barrier);
    if (c.alive == 0) {
        setcontext(&c.home);
    } else {
        run_next();
    }
}

void begin(Thread& t)
{
    if (!t.stack) t.stack = std::make_unique<char[]>(kStack);
    getcontext(&t.context);
    t.context.uc_stack.ss_sp = t.stack.get();
    t.context.uc_stack.ss_size = kStack;
    t.context.uc_link = nullptr;
    makecontext(&t.context, enter, 0);
}

void run_cluster(Cluster& c, dim3 grid, dim3 block, std::size_t shared, unsigned first)
{
    c.alive = c.threads.size();
    c.barrier = {int(c.alive), 0, 0};
    c.running = 0;
    const unsigned size = block.x * block.y * block.z;
    for (std::size_t b = 0; b < c.blocks.size(); ++b) {
        Block& own = c.blocks[b];
        // What a kernel reads without writing it first is not a number.
        own.shared.assign(shared + 16, char(0xff));
        own.barrier = {int(size), 0, 0};
        own.warps.assign((size + 31) / 32, {});
        own.room.assign(32 * own.warps.size(), std::numeric_limits<double>::quiet_NaN());
        char* memory = own.shared.data();
        memory += (16 - reinterpret_cast<std::size_t>(memory) % 16) % 16;
        for (unsigned i = 0; i < size; ++i) {
            Thread& t = c.threads[b * size + i];
            const unsigned number = first + unsigned(b);
            t.here = {{i % block.x, i / block.x % block.y, i / (block.x * block.y)},
                      {number % grid.x, number / grid.x % grid.y, number / (grid.x * grid.y)},
                      block,
                      grid,
                      int(b),
                      int(c.blocks.size()),
                      memory,
                      shared};
            t.block = int(b);
            t.warp = int(i / 32);
            t.lane = int(i % 32);
            t.ended = false;
            ++own.warps[i / 32].members;
            begin(t);
        }
    }
    swapcontext(&c.home, &c.threads[0].context);
}

}  // namespace

Machine& machine()
{
    static Machine one;
    return one;
}

const Here& here()
{
    return thread().here;
}

void block_barrier()
{
    wait(present->blocks[std::size_t(thread().block)].barrier);
}
void warp_barrier()
{
    wait(present->blocks[std::size_t(thread().block)].warps[std::size_t(thread().warp)]);
}
void cluster_barrier()
{
    wait(present->barrier);
}

char* in_block(char* memory, int rank)
{
    const std::size_t size = present->threads.size() / present->blocks.size();
    return present->threads[std::size_t(rank) * size].here.shared + (memory - here().shared);
}

double* warp_room()
{
    return present->blocks[std::size_t(thread().block)].room.data() + 32 * thread().warp;
}
int lane()
{
    return thread().lane;
}

void run(dim3 grid, dim3 block, std::size_t shared, int cluster, const std::function<void()>& body)
{
    ++machine().launches;
    const unsigned blocks = grid.x * grid.y * grid.z, size = block.x * block.y * block.z;
    if (blocks == 0 || size == 0 || size > 1024 || blocks % unsigned(cluster) != 0 ||
        shared > 232448) {
        std::fprintf(stderr, "CUDA on CPU: %u blocks of %u threads, %zu bytes, clusters of %d\n",
                     blocks, size, shared, cluster);
        std::abort();
    }
    Cluster c;
    c.blocks.resize(std::size_t(cluster));
    c.threads = std::vector<Thread>(std::size_t(cluster) * size);
    c.body = &body;
    present = &c;
    for (unsigned first = 0; first < blocks; first += unsigned(cluster)) {
        run_cluster(c, grid, block, shared, first);
    }
    present = nullptr;
}

namespace {

std::mutex of_allocations;  // any thread may allocate; one runs kernels

std::unordered_map<void*, std::size_t>& allocations()
{
    static std::unordered_map<void*, std::size_t> all;
    return all;
}

}  // namespace

}  // namespace cuda_on_cpu

cudaError_t cudaMalloc(void** to, std::size_t bytes)
{
    const std::lock_guard lock(cuda_on_cpu::of_allocations);
    auto& machine = cuda_on_cpu::machine();
    if (bytes > machine.memory - machine.used) return cudaErrorMemoryAllocation;
    *to = std::malloc(bytes + 1);
    std::memset(*to, 0xff, bytes);
    cuda_on_cpu::allocations()[*to] = bytes;
    machine.used += bytes;
    return cudaSuccess;
}

cudaError_t cudaFree(void* memory)
{
    if (!memory) return cudaSuccess;
    const std::lock_guard lock(cuda_on_cpu::of_allocations);
    auto& all = cuda_on_cpu::allocations();
    const auto found = all.find(memory);
    if (found == all.end()) return cudaErrorInvalidValue;
    cuda_on_cpu::machine().used -= found->second;
    all.erase(found);
    std::free(memory);
    return cudaSuccess;
}
