// What pages are told (src/web), and films.

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "cloths.h"
#include "motions.h"
#include "springtime/evaluate.h"
#include "springtime/export.h"
#include "springtime/files.h"
#include "temp_folder.h"
#include "web/page.h"
#include "web/report_payload.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A reader of the container, from its description alone.
struct Container {
    json header;
    std::string arrays;

    explicit Container(const std::string& bytes)
    {
        std::uint32_t length = 0;
        EXPECT_EQ(bytes.substr(0, 8), "SPRTWEB1");
        std::memcpy(&length, bytes.data() + 8, 4);
        EXPECT_EQ(length % 4, 0U);
        header = json::parse(bytes.substr(12, length));
        arrays = bytes.substr(12 + length);
    }

    template <class T>
    std::vector<T> values(const std::string& name) const
    {
        const json& entry = header.at("arrays").at(name);
        std::size_t count = 1;
        for (const json& size : entry.at("shape")) count *= size.get<std::size_t>();
        const auto offset = entry.at("offset").get<std::size_t>();
        EXPECT_LE(offset + count * sizeof(T), arrays.size());
        std::vector<T> values(count);
        std::memcpy(values.data(), arrays.data() + offset, count * sizeof(T));
        return values;
    }
};

TEST(Base64, FollowsTheTestVectorsOfRfc4648)
{
    const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                           {"f", "Zg=="},
                                                           {"fo", "Zm8="},
                                                           {"foo", "Zm9v"},
                                                           {"foob", "Zm9vYg=="},
                                                           {"fooba", "Zm9vYmE="},
                                                           {"foobar", "Zm9vYmFy"}};
    for (const auto& [plain, coded] : vectors) EXPECT_EQ(base64(plain), coded);
    EXPECT_EQ(base64("\xfb\xff\xfe"), "+//+");
}

TEST(WebPayload, HoldsHeaderAndAlignedArrays)
{
    Payload payload("report");
    payload.header().add("name", "a</script>\"\xe2\x80\xae b");
    const std::vector<std::uint8_t> bytes{1, 2, 3};
    const std::vector<float> floats{1.5F, -2};
    const std::vector<std::uint16_t> words{65535, 0, 7};
    payload.add("bytes", {3}, std::span<const std::uint8_t>(bytes));
    payload.add("floats", {1, 2}, std::span<const float>(floats));
    payload.add("words", {3}, std::span<const std::uint16_t>(words));
    const Container read(payload.bytes());
    EXPECT_EQ(read.header["kind"], "report");
    EXPECT_EQ(read.header["name"], "a</script>\"\xe2\x80\xae b");
    EXPECT_EQ(read.values<std::uint8_t>("bytes"), bytes);
    EXPECT_EQ(read.values<float>("floats"), floats);
    EXPECT_EQ(read.values<std::uint16_t>("words"), words);
    EXPECT_EQ(read.header["arrays"]["floats"]["shape"], (json{1, 2}));
    for (const auto& [name, entry] : read.header["arrays"].items()) {
        EXPECT_EQ(entry["offset"].get<std::size_t>() % 4, 0U) << name;
    }
}

TEST(WebPage, HasThePayloadInItsPlaceAndNothingElseChanged)
{
    const std::string before =
        "<html><script type=\"application/octet-stream\" id=\"springtime-data\">";
    const std::string after = "</script></html>";
    Payload payload("live");
    payload.header().add("name", "</script><script>alert(1)</script>");
    EXPECT_EQ(filled_page(before + after, payload), before + base64(payload.bytes()) + after);
}

TEST(WebPage, NeedsOnePlaceForThePayload)
{
    const std::string place = "<script type=\"application/octet-stream\" id=\"springtime-data\">";
    const Payload payload("live");
    EXPECT_TRUE(mentions(failure_of([&] { filled_page("<html></html>", payload); }), {"viewer"}));
    EXPECT_TRUE(mentions(failure_of([&] { filled_page(place + place, payload); }), {"viewer"}));
}

// A 6 x 5 sheet and what it does, as files.
class ReportPayload : public testing::Test {
  protected:
    void SetUp() override
    {
        source_ = make_grid_cloth({1, 0.8, 0.3}, {5, 6}, parse_material("40; rows 0-0.5 = 80", {}),
                                  MaterialField::uniform(0.05));
        GenerateOptions run;
        run.rollouts = 3;
        run.seconds = 0.5;
        run.dt = 1e-3;
        run.stride = 20;
        motion_ = generated_motion(source_, run);
        motion_.header.source_cloth = cloth_to_json(source_);
        MotionWriter writer(folder_ / "motion.h5", motion_.header);
        for (std::size_t r = 0; r < motion_.rollout_count(); ++r) {
            writer.append(motion_.read(r, 0, motion_.frame_counts[r]));
        }
        writer.finish();
        learned_ = source_;
        for (double& k : learned_.springs.stiffness) k *= 1.1;
        fs::create_directory(folder_ / "run");
        write_cloth(folder_ / "run/cloth.json", learned_);
    }

    Container report(ReportOptions options)
    {
        return Container(report_payload(options, {}).bytes());
    }

    TempFolder folder_;
    Cloth source_, learned_;
    Motion motion_;
};

TEST_F(ReportPayload, TellsTheErrorsThatEvaluateFinds)
{
    const Container read = report({.runs = {folder_ / "run"}, .motion = folder_ / "motion.h5"});
    const MotionError error = surrogate_error(learned_, motion_, Device::automatic, 0);
    const json& course = read.header["motion"]["runs"][0];
    EXPECT_EQ(course["mean"].get<double>(), error.mean);
    EXPECT_EQ(course["per_rollout"].get<std::vector<double>>(), error.per_rollout);
    EXPECT_EQ(read.header["motion"]["baselines"]["nothing_moves"]["mean"].get<double>(),
              static_error(motion_).mean);
    const std::vector<float> by_frame = read.values<float>("run0/by_frame");
    ASSERT_EQ(by_frame.size(), 3 * error.over_time.size());
    for (std::size_t f = 0; f < error.over_time.size(); ++f) {
        const std::size_t n = error.over_time.size();
        const double mean = (by_frame[f] + by_frame[n + f] + by_frame[2 * n + f]) / 3.0;
        EXPECT_NEAR(mean, error.over_time[f], 1e-6 * error.over_time[f]);  // float
    }
}

TEST_F(ReportPayload, KeepsPositionsToHalfOfASixteenBitStep)
{
    const Container read = report({.runs = {folder_ / "run"}, .motion = folder_ / "motion.h5"});
    const json& scene = read.header["scenes"][1];
    const Rollout rollout = motion_.read(scene["rollout"], 0, motion_.frame_counts[1]);
    const auto numbers = read.values<std::uint16_t>("scene1/source");
    const std::size_t count = motion_.header.landmark_count();
    const auto frames = scene["frames"].get<std::vector<std::size_t>>();
    ASSERT_EQ(numbers.size(), frames.size() * count * 3);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double low = scene["low"][i % 3], high = scene["high"][i % 3];
        const double step = (high - low) / 65534;
        const float stored =
            rollout.position[frames[i / (3 * count)] * 3 * count + i % (3 * count)];
        EXPECT_NEAR(low + step * numbers[i], stored, 0.51 * step);
    }
}

TEST_F(ReportPayload, HasTheTruthOfEverySpring)
{
    const Container read = report({.runs = {folder_ / "run"}, .motion = folder_ / "motion.h5"});
    const json& field = read.header["runs"][0]["cloth"]["fields"][0];
    ASSERT_EQ(field["name"], "stiffness");
    const auto learned = read.values<float>(field["values"]),
               truth = read.values<float>(field["truth"]);
    ASSERT_EQ(learned.size(), source_.springs.spring_count());
    for (std::size_t s = 0; s < learned.size(); ++s) {
        EXPECT_EQ(truth[s], float(source_.springs.stiffness[s]));
        EXPECT_EQ(learned[s], float(learned_.springs.stiffness[s]));
    }
    // All springs are a tenth too stiff: RMSE = 0.1 rms(k).
    double squares = 0;
    for (const double k : source_.springs.stiffness) squares += k * k;
    const double rmse = 0.1 * std::sqrt(squares / double(learned.size()));
    EXPECT_NEAR(read.header["runs"][0]["parameter_errors"][0]["rmse"].get<double>(), rmse, 1e-9);
}

TEST_F(ReportPayload, ComparesClothsOfOtherElementsCellByCell)
{
    const SheetMesh mesh = make_grid_mesh(source_.sheet, {5, 6}, MeshCut::diagonal);
    write_cloth(folder_ / "mesh.json", make_mesh_cloth(source_.sheet, mesh, {}));
    const Container read = report({.runs = {folder_ / "run"}, .truth = folder_ / "mesh.json"});
    EXPECT_TRUE(read.header["runs"][0]["parameter_errors"].empty());
    const json& cells = read.header["runs"][0]["cloth"]["cells"];
    EXPECT_EQ(cells["rows"], 4);
    EXPECT_EQ(cells["cols"], 5);
    const Cloth truth = read_cloth(folder_ / "mesh.json");
    const ValueMap expected = stiffness_map(truth, {4, 5});
    const auto values = read.values<float>(cells["truth"]);
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], float(expected.values[i]));
    for (const json& field : read.header["runs"][0]["cloth"]["fields"]) {
        EXPECT_FALSE(field.contains("truth"));
    }
}

TEST_F(ReportPayload, NamesWhatIsMissingOrDamaged)
{
    EXPECT_TRUE(mentions(error_of([&] { report({.runs = {folder_ / "none"}}); }), {"none"}));
    fs::create_directory(folder_ / "empty");
    EXPECT_TRUE(mentions(error_of([&] { report({.runs = {folder_ / "empty"}}); }),
                         {"empty", "cloth.json"}));
    write_bytes(folder_ / "run/result.json", "{\"steps\": ");
    EXPECT_TRUE(mentions(error_of([&] { report({.runs = {folder_ / "run"}}); }), {"result.json"}));
    write_bytes(folder_ / "run/result.json", "{\"validation_rmse\": null}");
    write_bytes(folder_ / "run/log.jsonl", "{}\n{}\n");
    EXPECT_TRUE(
        mentions(error_of([&] { report({.runs = {folder_ / "run"}}); }), {"log.jsonl", "line 1"}));
    EXPECT_EQ(field_of([&] { report({}); }), "runs");
}

TEST_F(ReportPayload, SaysWhenAClothCannotRun)
{
    const Cloth other = make_grid_cloth({3, 0.8, 0.3}, {5, 6}, MaterialField::uniform(40),
                                        MaterialField::uniform(0.05));  // another sheet
    write_cloth(folder_ / "other.json", other);
    const Container read =
        report({.runs = {folder_ / "other.json"}, .motion = folder_ / "motion.h5", .rollouts = 1});
    ASSERT_EQ(read.header["remarks"].size(), 1U);
    EXPECT_TRUE(mentions(read.header["remarks"][0].get<std::string>(), {"other.json", "3 m"}));
    EXPECT_TRUE(read.header["scenes"][0]["runs"][0].is_null());
}

TEST_F(ReportPayload, ThinsLongMotion)
{
    MotionHeader header = motion_.header;
    Rollout still;
    const std::size_t frames = 5000;
    for (std::size_t f = 0; f < frames; ++f) {
        for (const SheetPoint& p : header.rest) append_vectors(still.position, {{p.u, 0, p.v}});
    }
    still.frame_count = frames;
    header.velocities = false;
    MotionWriter writer(folder_ / "long.h5", header);
    writer.append(still);
    writer.finish();
    const Container read = report({.runs = {folder_ / "run"}, .motion = folder_ / "long.h5"});
    const json& scene = read.header["scenes"][0];
    EXPECT_EQ(scene["all_frames"], frames);
    EXPECT_LE(scene["frames"].size(), 241U);
    EXPECT_LE(read.header["arrays"]["run0/by_frame"]["shape"][1], 400);
}

TEST_F(ReportPayload, DrawsAFrameOfTheSizeThatIsAskedFor)
{
    const Picture picture =
        render_frame(motion_, {.rollout = 1, .frame = 3, .width = 300, .height = 200});
    EXPECT_EQ(picture.width, 300);
    EXPECT_EQ(picture.height, 200);
    const Picture other =
        render_frame(motion_, {.rollout = 1, .frame = 20, .width = 300, .height = 200});
    EXPECT_NE(picture.rgb, other.rgb);
    EXPECT_EQ(field_of([&] { render_frame(motion_, {.rollout = 3}); }), "rollout");
    EXPECT_EQ(field_of([&] { render_frame(motion_, {.frame = 26}); }), "frame");
    EXPECT_EQ(field_of([&] { render_frame(motion_, {.width = 3}); }), "size");
    EXPECT_EQ(field_of([&] { render_film(motion_, {.width = 301}, folder_ / "a.mp4", false); }),
              "size");
}

}  // namespace
}  // namespace springtime
