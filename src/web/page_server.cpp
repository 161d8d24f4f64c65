#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <utility>

#include "core/part_lock.h"
#include "springtime/error.h"
#include "springtime/export.h"

namespace springtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostRequestBytes = 16384;
constexpr std::size_t kMostConnections = 32;
constexpr auto kPatience = std::chrono::seconds(20);  // for a whole request, and for a whole answer
constexpr int kAskEvery = 200;                        // [ms]

// The page brings all it needs, so the browser need not ask anybody for anything.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string head(std::string_view status, std::string_view type, std::size_t length)
{
    return fmt::format(
        "HTTP/1.1 {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\n"
        "Content-Security-Policy: {}\r\nCache-Control: no-store\r\nAllow: GET, HEAD\r\n"
        "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
        "Connection: close\r\n\r\n",
        status, type, length, kPolicy);
}

// What is sent: a head, and a body that is not copied.
struct Answer {
    std::string head;
    std::string_view body;

    std::size_t size() const { return head.size() + body.size(); }
};

Answer refusal(std::string_view status)
{
    return {head(status, "text/plain", status.size() + 1) + std::string(status) + "\n", {}};
}

// The value of a field of a request; empty where it is not there, or there twice.
std::string_view field_of(std::string_view request, std::string_view name)
{
    std::string_view found;
    int count = 0;
    for (auto at = request.find("\r\n"); at != request.npos; at = request.find("\r\n", at + 2)) {
        std::string_view line = request.substr(at + 2);
        line = line.substr(0, line.find("\r\n"));
        const auto colon = line.find(':');
        if (colon != name.size() ||
            !std::equal(name.begin(), name.end(), line.begin(),
                        [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); })) {
            continue;
        }
        line.remove_prefix(colon + 1);
        while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
        while (line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
        found = line;
        ++count;
    }
    return count == 1 ? found : std::string_view{};
}

// One browser that asks.
struct Connection {
    Descriptor socket;
    Clock::time_point end = Clock::now() + kPatience;
    std::string request;
    Answer answer;
    std::size_t sent = 0;

    bool answered() const { return sent > 0 && sent == answer.size(); }
    bool answering() const { return !answer.head.empty() && !answered(); }
};

[[noreturn]] void fail_port(int port, int reason)
{
    throw Failure("port {}: cannot be used ({}); give another, or 0 for any that is free", port,
                  std::strerror(reason));
}

}  // namespace

struct PageServer::Impl {
    std::string page;
    Descriptor listener{-1};
    int port = 0;
    std::list<Connection> connections;

    void listen(int wanted);
    Answer answer_to(std::string_view request) const;
    bool is_for_us(std::string_view host) const;
    void accept_all();
    bool read(Connection& connection) const;
    static bool write(Connection& connection);
    void serve_ready(int milliseconds);
};

void PageServer::Impl::listen(int wanted)
{
    listener = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (listener.id() < 0) fail_port(wanted, errno);
    const int yes = 1;
    ::setsockopt(listener.id(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(wanted));
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener.id(), any, size) != 0 || ::listen(listener.id(), 16) != 0 ||
        ::getsockname(listener.id(), any, &size) != 0) {
        fail_port(wanted, errno);
    }
    port = ntohs(address.sin_port);
}

// A page of somebody else may lead its own name to this address; its browser then names that host.
bool PageServer::Impl::is_for_us(std::string_view host) const
{
    return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
}

Answer PageServer::Impl::answer_to(std::string_view request) const
{
    const std::string_view line = request.substr(0, request.find("\r\n"));
    const auto first = line.find(' '), second = line.find(' ', first + 1);
    if (first == line.npos || second == line.npos || !line.substr(second).starts_with(" HTTP/1.")) {
        return refusal("400 Bad Request");
    }
    const std::string_view method = line.substr(0, first);
    if (method != "GET" && method != "HEAD") return refusal("405 Method Not Allowed");
    if (!is_for_us(field_of(request, "host"))) return refusal("403 Forbidden");
    if (line.substr(first + 1, second - first - 1) != "/") return refusal("404 Not Found");
    Answer answer{head("200 OK", "text/html", page.size()), page};
    if (method == "HEAD") answer.body = {};
    return answer;
}

void PageServer::Impl::accept_all()
{
    while (connections.size() < kMostConnections) {
        const int id = ::accept4(listener.id(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (id < 0) return;
        connections.push_back({Descriptor(id), Clock::now() + kPatience, {}, {}, 0});
    }
}

// False when the connection is over.
bool PageServer::Impl::read(Connection& connection) const
{
    char block[4096];
    const ssize_t got = ::recv(connection.socket.id(), block, sizeof block, 0);
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (got == 0) return false;
    if (connection.answered()) return true;  // whatever else it says
    connection.request.append(block, std::size_t(got));
    const auto end = connection.request.find("\r\n\r\n");
    if (connection.request.size() > kMostRequestBytes) {
        connection.answer = refusal("431 Request Header Fields Too Large");
    } else if (end != std::string::npos) {
        connection.answer = answer_to(std::string_view(connection.request).substr(0, end));
    }
    if (connection.answering()) connection.end = Clock::now() + kPatience;
    return true;
}

// At the end it waits until the browser closes: closing first, with something unread, would take
// the answer away from it.
bool PageServer::Impl::write(Connection& connection)
{
    const Answer& answer = connection.answer;
    const bool in_head = connection.sent < answer.head.size();
    const std::string_view left = in_head
                                      ? std::string_view(answer.head).substr(connection.sent)
                                      : answer.body.substr(connection.sent - answer.head.size());
    const ssize_t put = ::send(connection.socket.id(), left.data(), left.size(), MSG_NOSIGNAL);
    if (put < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    connection.sent += std::size_t(put);
    if (connection.answered()) ::shutdown(connection.socket.id(), SHUT_WR);
    return true;
}

// Waits for what can be read or written, and does it. A slow browser keeps nobody else waiting.
void PageServer::Impl::serve_ready(int milliseconds)
{
    std::vector<pollfd> watched;
    for (const Connection& c : connections) {
        watched.push_back({c.socket.id(), short(c.answering() ? POLLOUT : POLLIN), 0});
    }
    if (connections.size() < kMostConnections) watched.push_back({listener.id(), POLLIN, 0});
    const bool some = ::poll(watched.data(), watched.size(), milliseconds) > 0;
    std::size_t index = 0;
    for (auto c = connections.begin(); c != connections.end(); ++index) {
        bool open = Clock::now() < c->end;
        if (open && some && watched[index].revents != 0)
            open = c->answering() ? write(*c) : read(*c);
        c = open ? std::next(c) : connections.erase(c);
    }
    accept_all();
}

PageServer::PageServer(std::string page, int port) : impl_(std::make_unique<Impl>())
{
    if (port < 0 || port > 65535) {
        throw Error(Field{"port"}, "port {}: give 1 to 65535, or 0 for any that is free", port);
    }
    impl_->page = std::move(page);
    impl_->listen(port);
}

PageServer::~PageServer() = default;

std::string PageServer::address() const
{
    return fmt::format("http://127.0.0.1:{}/", impl_->port);
}

void PageServer::serve(const std::function<bool()>& go_on)
{
    while (go_on()) impl_->serve_ready(kAskEvery);
}

}  // namespace springtime
