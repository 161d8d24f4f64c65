#include <gtest/gtest.h>
#include <sys/wait.h>

#include <random>

#include "core/atomic_file.h"
#include "core/fingerprint.h"
#include "springtime/error.h"
#include "temp_folder.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;

struct PartFiles : testing::Test {
    TempFolder folder;
    fs::path path = folder / "a.txt", part = folder / "a.txt.part";

    std::size_t file_count() const
    {
        return std::size_t(std::distance(fs::directory_iterator(folder / ""), {}));
    }
};

TEST_F(PartFiles, OneWriterAtATime)
{
    PartFile first(path);
    first.write("first");
    const std::string message = failure_of([&] { PartFile second(path); });
    EXPECT_TRUE(mentions(message, {path.string(), "another springtime is writing this"}));
    EXPECT_TRUE(is_being_written(part));
    first.publish();
    EXPECT_EQ(bytes_of(path), "first");
    write_text(path, "second");
    EXPECT_EQ(bytes_of(path), "second");
    EXPECT_EQ(file_count(), 1u);
}

TEST_F(PartFiles, WhatADeadProcessLeftIsNoLock)
{
    if (const pid_t child = fork(); child == 0) {
        PartFile file(path);
        file.write("half");
        std::fflush(file.stream());
        std::_Exit(0);
    } else {
        waitpid(child, nullptr, 0);
    }
    EXPECT_TRUE(fs::exists(part));
    EXPECT_FALSE(is_being_written(part));
    write_text(path, "ok");
    EXPECT_EQ(bytes_of(path), "ok");
    EXPECT_EQ(file_count(), 1u);
}

TEST_F(PartFiles, ReplaceNothingUnasked)
{
    write_bytes(path, "theirs");
    EXPECT_TRUE(mentions(error_of([&] { write_text(path, "ours", false); }), {path.string()}));
    fs::remove(path);
    {
        PartFile file(path, false);
        file.write("ours");
        write_bytes(path, "theirs");  // another program was faster
        EXPECT_TRUE(
            mentions(failure_of([&] { file.publish(); }), {path.string(), "another program"}));
    }
    EXPECT_EQ(bytes_of(path), "theirs");
    EXPECT_EQ(file_count(), 1u);
    write_text(path, "ours", true);
    EXPECT_EQ(bytes_of(path), "ours");
}

TEST_F(PartFiles, DoNotFollowALink)
{
    write_bytes(folder / "precious", "theirs");
    fs::create_symlink("precious", part);
    EXPECT_TRUE(mentions(failure_of([&] { write_text(path, "ours"); }), {path.string()}));
    EXPECT_EQ(bytes_of(folder / "precious"), "theirs");
    EXPECT_FALSE(fs::exists(path));
}

TEST_F(PartFiles, FoldersFollowTheSameRules)
{
    const fs::path out = folder / "out";
    {
        PartFolder first(out, false);
        first.write("1", "old");
        EXPECT_THROW(PartFolder(out, false), Failure);
        first.publish();
    }
    {
        PartFolder second(out, false);
        second.write("1", "new");
        EXPECT_TRUE(mentions(failure_of([&] { second.publish(); }), {out.string()}));
    }
    EXPECT_EQ(bytes_of(out / "1"), "old");
    {
        PartFolder third(out, true);
        third.write("2", "new");
        third.publish();
    }
    EXPECT_FALSE(fs::exists(out / "1"));
    EXPECT_EQ(bytes_of(out / "2"), "new");
    EXPECT_EQ(file_count(), 1u);
}

TEST_F(PartFiles, AFolderHasOneWriter)
{
    auto lock = lock_folder(folder / "");
    EXPECT_TRUE(mentions(failure_of([&] { lock_folder(folder / ""); }), {"another springtime"}));
    lock.reset();
    lock_folder(folder / "");
}

// ---- Fingerprints

// Around the length of a row and of a block, where what is left over counts.
TEST_F(PartFiles, AFingerprintIsTheSameForAFileAndItsText)
{
    std::mt19937 random(1);
    for (const std::size_t size : {0, 1, 31, 32, 33, (1 << 20) - 1, 1 << 20, (1 << 20) + 1}) {
        std::string text(size, 0);
        for (char& c : text) c = char(random());
        write_bytes(path, text);
        EXPECT_EQ(file_fingerprint(path), text_fingerprint(text)) << size;
        EXPECT_NE(text_fingerprint(text), text_fingerprint(text + std::string(1, '\0'))) << size;
    }
}

TEST(Fingerprint, ChangesWithEveryBitAndWithTheOrder)
{
    std::string text =
        "Any one changed bit must change it, and so must two words that change places";
    const std::uint64_t before = text_fingerprint(text);
    for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
        text[bit / 8] = char(text[bit / 8] ^ (1 << bit % 8));
        EXPECT_NE(text_fingerprint(text), before);
        text[bit / 8] = char(text[bit / 8] ^ (1 << bit % 8));
    }
    EXPECT_EQ(text_fingerprint(text), before);
    for (std::size_t i = 8; i + 8 <= text.size(); i += 8) {
        std::string other = text.substr(i, 8) + text.substr(8, i - 8) + text.substr(0, 8);
        EXPECT_NE(text_fingerprint(other + text.substr(i + 8)), before);
    }
}

}  // namespace
}  // namespace springtime
