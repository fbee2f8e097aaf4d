#include "engine/live/template_settings.h"

#include <gtest/gtest.h>

namespace paddock::engine {
namespace {

TEST(TemplateSettings, ComeBackAsTheyWereWritten) {
  TemplateSettings settings;
  settings.environment = {{"A", "b"}, {"BYTES", std::string("\xff\n\"", 3)}};
  settings.directory = "/app";
  settings.user = "root";
  settings.start_command = "serve & wait";
  settings.ready_command = "true";
  EXPECT_EQ(decode_template_settings(encode(settings)).value(), settings);
}

TEST(TemplateSettings, ThatSayNothingTakeNoRoom) {
  EXPECT_EQ(encode(TemplateSettings()), "");
  EXPECT_EQ(decode_template_settings("").value(), TemplateSettings());
}

TEST(TemplateSettings, WhatWasNotWrittenIsCorrupt) {
  for (const char* text : {"{", "[]", "{}", "{\"environment\":1}", "{\"environment\":{\"A\":2}}",
                           "{\"environment\":{},\"user\":3}"}) {
    EXPECT_FALSE(decode_template_settings(text).ok()) << text;
  }
}

TEST(TemplateSettings, VariablesAreFilledIn) {
  const std::map<std::string, std::string> environment{{"PATH", "/bin"}, {"A1", "$PATH"}};
  auto expand = [&](const char* text) { return expand_variables(text, environment); };
  EXPECT_EQ(expand("/x:$PATH"), "/x:/bin");
  EXPECT_EQ(expand("${PATH}s $A1 ${A1}"), "/bins $PATH $PATH");  // once
  EXPECT_EQ(expand("[$NONE${NONE}]"), "[]");
  EXPECT_EQ(expand("$ $$ $1 ${ ${1} ${A1 $(id) `id` \\$"), "$ $$ $1 ${ ${1} ${A1 $(id) `id` \\$");
  EXPECT_EQ(expand(""), "");
}

}  // namespace
}  // namespace paddock::engine
