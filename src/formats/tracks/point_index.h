#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace springtime {

// The points of a long CSV: which index each has that is called by a number or a name.
class PointIndex {
  public:
    static constexpr std::size_t kNone = std::size_t(-1);

    // What is added from here on belongs to another frame.
    void begin_frame() { last_ = kNone; }
    // Makes it known if it is not. "7", "07" and "7.0" are the same.
    void add(std::string_view cell);
    // When all are added: numbers in ascending order, or names in the one order in which all frames
    // list them. Where frames leave that open or contradict each other, who was added first is
    // first.
    void finish();

    // kNone for one that was not added. Quick when cells come in the same order again and again.
    std::size_t find(std::string_view cell);

    std::size_t size() const { return names_.size(); }
    const std::vector<std::string>& names() const { return names_; }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const
        {
            return std::hash<std::string_view>()(text);
        }
    };
    using Map = std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>>;

    std::size_t look_up(std::string_view cell);
    std::size_t& follower() { return last_ == kNone ? opener_ : follow_[last_]; }
    void note_pair(std::size_t first, std::size_t second);
    void unite_pairs();
    std::vector<std::size_t> order_of_frames();
    void reorder(const std::vector<std::size_t>& order);

    Map index_;  // by what cells hold
    std::vector<std::string> names_;
    std::vector<std::string> cell_;    // as last found, for every index
    std::vector<std::size_t> follow_;  // the index that last came behind each, or kNone
    std::size_t opener_ = kNone;       // that last came first in a frame
    std::size_t last_ = kNone;         // in this frame

    // Who came right behind whom in some frame. Many pairs mean that there is no order, and are
    // forgotten.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
    std::size_t many_pairs_ = 4096;  // that may be there before they are united again
    bool ordered_ = true;
};

}  // namespace springtime
