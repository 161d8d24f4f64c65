#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace springtime {

// The points of a long CSV: which index each has that is called by a number or a name.
class PointIndex {
  public:
    static constexpr std::size_t kNone = std::size_t(-1);

    // Makes it known if it is not. "7", "07" and "7.0" are the same.
    void add(std::string_view cell);
    // When all are added: numbers in ascending order, or names in the order they were added.
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

    Map index_;  // by what cells hold
    std::vector<std::string> names_;
    std::vector<std::string> cell_;    // as last found, for every index
    std::vector<std::size_t> follow_;  // the index that last came behind each
    std::size_t last_ = 0;
};

}  // namespace springtime
