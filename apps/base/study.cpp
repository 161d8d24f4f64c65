#include "study.h"

#include <toml++/toml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostMembers = 100000;
// Names of files may have 255 characters; seeds and endings are still to come.
constexpr std::size_t kLongestName = 180;

template <class T>
std::string toml_of(const T& node)
{
    std::ostringstream text;
    text << node;
    return text.str();
}

// As a part of the name of a folder.
std::string in_name(const std::string& text)
{
    std::string name;
    for (const char c : text) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-';
        if (plain) {
            name += c;
        } else if (!name.empty() && name.back() != '-') {
            name += '-';
        }
    }
    while (!name.empty() && name.back() == '-') name.pop_back();
    return name;
}

std::string shown(const toml::node& value)
{
    if (const auto* text = value.as_string()) return text->get();
    std::string result;
    value.visit([&](const auto& node) { result = toml_of(node); });
    return result;
}

// A member as it grows.
struct Draft {
    std::string name;
    toml::table settings;
    std::vector<std::pair<std::string, std::string>> differs;

    void set(const std::string& key, const toml::node& value)
    {
        settings.insert_or_assign(key, value);
        differs.emplace_back(key, shown(value));
    }
};

class StudyReader {
  public:
    explicit StudyReader(const fs::path& path) : path_(path), folder_(path.parent_path())
    {
        try {
            table_ = toml::parse(read_text(path), path.string());
        } catch (const toml::parse_error& error) {
            throw Error("{}:{}:{}: not TOML: {}", path.string(), error.source().begin.line,
                        error.source().begin.column, error.description());
        }
    }

    Study read()
    {
        check_keys();
        Study study;
        if (const auto test = text_at("test")) study.test = in_folder(*test);
        std::vector<Draft> drafts = all_products();
        add_listed(drafts);
        if (drafts.empty()) drafts.push_back({"all", base(), {}});
        shorten_names(drafts);
        const std::vector<std::int64_t> seeds = all_seeds();
        if (drafts.size() > kMostMembers / std::max<std::size_t>(1, seeds.size())) {
            throw Error("{}: {} members with {} seeds each are more than {}; split the study",
                        path_.string(), drafts.size(), std::max<std::size_t>(1, seeds.size()),
                        kMostMembers);
        }
        study.ensemble = seeds.size() > 1;
        for (const Draft& draft : drafts) {
            if (seeds.empty()) {
                add(study, draft, draft.name);
                continue;
            }
            for (const std::int64_t seed : seeds) {
                Draft own = draft;
                own.set("seed", toml::value<std::int64_t>(seed));
                add(study, own, fmt::format("{},seed-{}", draft.name, seed));
                study.members.back().group = draft.name;
            }
        }
        return study;
    }

  private:
    template <class... Args>
    [[noreturn]] void fail(const toml::node& at, fmt::format_string<Args...> text,
                           Args&&... args) const
    {
        throw Error("{}:{}: {}", path_.string(), at.source().begin.line,
                    fmt::format(text, std::forward<Args>(args)...));
    }

    void check_keys() const
    {
        for (const auto& [key, node] : table_) {
            const std::string_view name = key.str();
            if (name == "motion" || name == "test" || name == "ensemble" || name == "seeds" ||
                name == "train" || name == "product" || name == "member") {
                continue;
            }
            fail(node,
                 "'{}' is no part of a study; there are motion, test, ensemble, seeds, [train], "
                 "[product] and [[member]]",
                 name);
        }
    }

    std::optional<std::string> text_at(const char* key) const
    {
        const toml::node* node = table_.get(key);
        if (!node) return std::nullopt;
        if (!node->is_string()) fail(*node, "{} must be the name of a file", key);
        return node->as_string()->get();
    }

    fs::path in_folder(const std::string& name) const { return fs::absolute(folder_ / name); }

    const toml::table* table_at(const char* key) const
    {
        const toml::node* node = table_.get(key);
        if (node && !node->is_table()) fail(*node, "{} must be a table: [{}]", key, key);
        return node ? node->as_table() : nullptr;
    }

    // What all members have.
    toml::table base() const
    {
        const toml::table* train = table_at("train");
        toml::table settings = train ? *train : toml::table{};
        if (const auto motion = text_at("motion")) settings.insert_or_assign("motion", *motion);
        return settings;
    }

    // The last setting changes first.
    std::vector<Draft> all_products() const
    {
        const toml::table* product = table_at("product");
        if (!product) return {};
        std::vector<Draft> drafts{{"", base(), {}}};
        for (const auto& [key, node] : *product) {
            const std::string name(key.str());
            const toml::array* values = node.as_array();
            if (!values || values->empty()) fail(node, "{} must be a list of values to try", name);
            if (values->size() > kMostMembers / drafts.size()) {
                fail(node, "the study has more than {} members; split it", kMostMembers);
            }
            std::vector<Draft> longer;
            for (const Draft& draft : drafts) {
                for (const toml::node& value : *values) {
                    Draft& own = longer.emplace_back(draft);
                    own.set(name, value);
                    own.name +=
                        (own.name.empty() ? "" : ",") + in_name(name) + "-" + in_name(shown(value));
                }
            }
            drafts.swap(longer);
        }
        return drafts;
    }

    // Members that differ in many settings are told apart by their number.
    static void shorten_names(std::vector<Draft>& drafts)
    {
        for (std::size_t i = 0; i < drafts.size(); ++i) {
            std::string& name = drafts[i].name;
            if (name.size() <= kLongestName) continue;
            name = fmt::format("{}-{}", name.substr(0, kLongestName), i + 1);
        }
    }

    void add_listed(std::vector<Draft>& drafts) const
    {
        const toml::node* node = table_.get("member");
        if (!node) return;
        const toml::array* list = node->as_array();
        if (!list) fail(*node, "member must be a list of tables: [[member]]");
        for (const toml::node& item : *list) {
            const toml::table* own = item.as_table();
            if (!own) fail(item, "member must be a list of tables: [[member]]");
            Draft draft{"", base(), {}};
            for (const auto& [key, value] : *own) {
                if (key.str() == "name") {
                    draft.name = in_name(value.value_or(std::string()));
                } else {
                    draft.set(std::string(key.str()), value);
                }
            }
            if (draft.name.empty()) fail(item, "a member needs a name, of letters and digits");
            drafts.push_back(std::move(draft));
        }
    }

    std::vector<std::int64_t> all_seeds() const
    {
        const toml::node *count = table_.get("ensemble"), *list = table_.get("seeds");
        std::vector<std::int64_t> seeds;
        if (count && list) fail(*list, "ensemble and seeds: give one of them");
        if (count) {
            const auto size = count->value<std::int64_t>();
            if (!size || *size < 2 || *size > std::int64_t(kMostMembers)) {
                fail(*count, "ensemble must be a number of seeds, at least 2");
            }
            for (std::int64_t seed = 1; seed <= *size; ++seed) seeds.push_back(seed);
        }
        if (list) {
            if (!list->is_array()) fail(*list, "seeds must be a list of whole numbers");
            for (const toml::node& item : *list->as_array()) {
                const auto seed = item.value<std::int64_t>();
                if (!seed || *seed < 0) fail(item, "seeds must be whole numbers, not negative");
                seeds.push_back(*seed);
            }
        }
        return seeds;
    }

    void add(Study& study, const Draft& draft, const std::string& name)
    {
        if (!names_.insert(name).second) {
            throw Error("{}: two members are '{}'; give them different names or settings",
                        path_.string(), name);
        }
        toml::table settings = draft.settings;
        const auto motion = settings["motion"].value<std::string>();
        if (!motion) {
            throw Error(
                "{}: member '{}' has no motion to learn from; write motion = \"FILE.h5\" at the "
                "top",
                path_.string(), name);
        }
        settings.erase("motion");
        if (!settings.contains("seed")) settings.insert("seed", std::int64_t(1));
        study.members.push_back({name, name, in_folder(*motion),
                                 settings["device"].value_or(std::string("auto")),
                                 toml_of(settings) + "\n", draft.differs});
    }

    fs::path path_, folder_;
    toml::table table_;
    std::set<std::string> names_;  // of members
};

}  // namespace

Study read_study(const fs::path& path)
{
    return StudyReader(path).read();
}

std::string trainings_of(const std::string& study)
{
    try {
        toml::table table = toml::parse(study);
        table.erase("test");
        return toml_of(table);
    } catch (const toml::parse_error&) {  // nothing that a sweep has written
        return study;
    }
}

std::optional<std::string> text_in(const fs::path& json, const std::string& key)
{
    const auto tree = nlohmann::json::parse(read_text(json), nullptr, false);
    if (!tree.is_object() || !tree.contains(key) || !tree[key].is_string()) return std::nullopt;
    return tree[key].get<std::string>();
}

std::optional<double> number_in(const fs::path& json, const std::string& key)
{
    const auto tree = nlohmann::json::parse(read_text(json), nullptr, false);
    if (!tree.is_object() || !tree.contains(key) || !tree[key].is_number()) return std::nullopt;
    return tree[key].get<double>();
}

}  // namespace springtime::app
