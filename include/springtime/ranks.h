#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

// Many processes that do the work of one, on one machine or on many.
namespace springtime {

// Processes of the same program that work together, as MPI starts them. They are numbered from 0,
// and the first one leads: it alone reads what the user asks for and writes files. The library
// brings no implementation; that of the command line is its MPI component.
class Ranks {
  public:
    virtual ~Ranks() = default;

    virtual int rank() const = 0;    // the number of this process
    virtual int count() const = 0;   // of all processes
    virtual int beside() const = 0;  // how many of them share this machine, this one included
    virtual int place() const = 0;   // the number of this one among those
    // How many of those may use a core that this one may use, this one included: launchers tie
    // ranks to cores of their own, or let all use all.
    virtual int sharing() const = 0;
    // Messages from one rank to another arrive in the order in which they were sent. These
    // functions may be called by any thread.
    virtual void send(int to, std::span<const std::byte> message) = 0;
    virtual bool waiting(int from) = 0;  // whether receive() would return at once
    virtual std::vector<std::byte> receive(int from) = 0;
    virtual void abort() = 0;  // ends all ranks at once
};

// The other ranks, as the first one sees them. Options of the library that have a crew let it share
// the work; the result is the same to the last bit. One thread uses a crew at a time.
class Crew;

// Takes the lead: for the first rank. The others must serve(). They may go home when the last copy
// of what is returned goes; the ranks must outlive it.
std::shared_ptr<Crew> lead(Ranks& ranks);

// Threads that a rank takes where nobody says how many: its share of the cores of its machine.
// Without a crew, all that this process may use.
int cores_of(const Crew* crew);

struct Motion;
// Opens a motion file: open_motion() of files.h.
using OpenMotion = std::function<Motion(const std::string& path)>;

// Does what the first rank asks for, until it lets this rank go. Motion files that this rank can
// open are not sent to it.
void serve(Ranks& ranks, const OpenMotion& open = {});

// ---- Programs

// A run of a program.
struct Program {
    std::vector<std::string> command;  // the path of the program, then its arguments
    std::string output;                // the file that its output and its errors go to
};

// Runs programs as places become free, in ascending order: `jobs` of them on this machine at a
// time, or one on every rank of a crew. The programs do not know that there are other ranks. `done`
// gets the number of a program that has ended and its exit code, or minus the signal that ended it.
// `alive` is called now and then; what it throws ends all programs.
void run_programs(const std::vector<Program>& programs, int jobs, Crew* crew,
                  const std::function<void(std::size_t program, int code)>& done,
                  const std::function<void()>& alive);

}  // namespace springtime
