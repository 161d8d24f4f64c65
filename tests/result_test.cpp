#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "springtime/report.h"

namespace springtime {
namespace {

Result row(double mean, double deviation)
{
    Result result = Result::tree();
    result.add("mean", mean, "m");
    result.add("std", deviation, "m");
    return result;
}

Result example()
{
    Result baselines = Result::tree(), result = Result::tree();
    baselines.add("static", row(1.5, 0.25)).label("nothing moves");
    baselines.add("handles", row(0.5, 0.125));
    baselines.add("homogeneous", {});
    result.label("cloth on motion");
    result.add("rollouts", 3);
    result.add("share", 0.0125).percent();
    result.add("duplicates", 0).unless_zero();
    result.add("cloth", "run \"a\"\n\xff").data_only();
    result.add("worst", HUGE_VAL, "m");
    result.add("baselines", baselines);
    result.say("try something");
    return result;
}

TEST(Result, JsonKeepsOrderAndEveryValueButWords)
{
    const auto json = nlohmann::ordered_json::parse(to_json(example()));
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    EXPECT_EQ(keys, (std::vector<std::string>{"rollouts", "share", "duplicates", "cloth", "worst",
                                              "baselines"}));
    EXPECT_EQ(json["rollouts"], 3);
    EXPECT_EQ(json["share"], 0.0125);
    EXPECT_EQ(json["cloth"], "run \"a\"\n\xef\xbf\xbd");  // a byte that is not UTF-8
    EXPECT_TRUE(json["worst"].is_null());
    EXPECT_EQ(json["baselines"]["static"]["mean"], 1.5);
    EXPECT_TRUE(json["baselines"]["homogeneous"].is_null());
}

TEST(Result, IndentedJsonIsTheSame)
{
    const Result result = example();
    EXPECT_EQ(nlohmann::json::parse(to_json(result, 2)), nlohmann::json::parse(to_json(result)));
}

TEST(Result, HtmlShowsWhatTextShowsAndKeepsItText)
{
    Result result = example();
    result.add("remark", "a < b & \"c\" > d").label("<b>note</b>");
    const std::string html = to_html(result);
    for (const char* part :
         {"cloth on motion", "<th>share</th><td>1.25 %</td>", "<th>mean</th><td>1.5 m</td>",
          "nothing moves", "try something", "<th>&lt;b&gt;note&lt;/b&gt;</th>",
          "a &lt; b &amp; &quot;c&quot; &gt; d"}) {
        EXPECT_NE(html.find(part), std::string::npos) << part;
    }
    for (const char* part : {"run", "duplicates", "homogeneous", "<b>"}) {  // not shown
        EXPECT_EQ(html.find(part), std::string::npos) << part;
    }
}

TEST(Result, NumbersComeBackFromJsonBitForBit)
{
    const std::vector<double> numbers{1.0 / 3, 1e-300, 6.02214076e23, 0, -0.1};
    EXPECT_EQ(nlohmann::json::parse(to_json(numbers)).get<std::vector<double>>(), numbers);
}

TEST(Result, TextHasUnitsPercentAndTables)
{
    EXPECT_EQ(to_text(example()),
              "cloth on motion\n"
              "  rollouts  3\n"
              "  share     1.25 %\n"
              "  worst     - m\n"
              "  baselines\n"
              "                   mean [m]  std [m]\n"
              "    nothing moves       1.5     0.25\n"
              "    handles             0.5    0.125\n"
              "  try something\n");
}

TEST(Result, LongCurvesAreSampledWithBars)
{
    std::vector<double> curve(101);
    for (std::size_t i = 0; i < curve.size(); ++i) curve[i] = double(i);
    Result result = Result::tree();
    result.add("over_time", curve, "m").along(0.5, "s");
    const std::string text = to_text(result);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + 11);
    // The last of 100 intervals of 0.5 s has the longest bar, 40 wide; half way it is half of that.
    EXPECT_NE(text.find("    50        100  " + std::string(40, '#') + "\n"), std::string::npos);
    EXPECT_NE(text.find("    25         50  " + std::string(20, '#') + "\n"), std::string::npos);
}

TEST(Result, AddReplacesAChildOfTheSameName)
{
    Result result = Result::tree();
    result.add("a", 1);
    result.add("b", 2);
    result.add("a", "one");
    EXPECT_EQ(to_json(result), R"({"a":"one","b":2})");
    EXPECT_EQ(result.find("c"), nullptr);
    EXPECT_EQ(*result.find("b")->get_if<std::int64_t>(), 2);
}

}  // namespace
}  // namespace springtime
