#include "service/metrics.h"

#include <gtest/gtest.h>

namespace paddock::service {
namespace {

constexpr Metric kMade{"paddock_made_total", MetricKind::counter, "Things made."};
constexpr Metric kNow{"paddock_now", MetricKind::gauge, "Things that are."};
constexpr Metric kTook{"paddock_took_seconds", MetricKind::histogram, "How long it took."};

TEST(MetricsText, IsWhatPrometheusReads) {
  Metrics metrics;
  metrics.add(kMade, {{"kind", "a"}});
  metrics.add(kMade, {{"kind", "a"}}, 2);
  metrics.add(kMade, {{"kind", "\"b\\\n"}});
  metrics.set(kNow, {}, 7);
  metrics.set(kNow, {}, 3);
  EXPECT_EQ(metrics.text(),
            "# HELP paddock_made_total Things made.\n"
            "# TYPE paddock_made_total counter\n"
            "paddock_made_total{kind=\"\\\"b\\\\\\n\"} 1\n"
            "paddock_made_total{kind=\"a\"} 3\n"
            "# HELP paddock_now Things that are.\n"
            "# TYPE paddock_now gauge\n"
            "paddock_now 3\n");
}

TEST(MetricsText, BucketsAreCumulative) {
  Metrics metrics;
  for (const double seconds : {0.004, 0.02, 5.0, 5000.0}) {
    metrics.observe(kTook, {{"route", "x"}}, seconds);
  }
  const std::string text = metrics.text();
  auto has = [&](const std::string& line) { return text.find(line + "\n") != std::string::npos; };
  EXPECT_TRUE(has("# TYPE paddock_took_seconds histogram"));
  EXPECT_TRUE(has("paddock_took_seconds_bucket{route=\"x\",le=\"0.001\"} 0"));
  EXPECT_TRUE(has("paddock_took_seconds_bucket{route=\"x\",le=\"0.005\"} 1"));
  EXPECT_TRUE(has("paddock_took_seconds_bucket{route=\"x\",le=\"5\"} 3"));
  EXPECT_TRUE(has("paddock_took_seconds_bucket{route=\"x\",le=\"600\"} 3"));
  EXPECT_TRUE(has("paddock_took_seconds_bucket{route=\"x\",le=\"+Inf\"} 4"));
  EXPECT_TRUE(has("paddock_took_seconds_count{route=\"x\"} 4"));
}

}  // namespace
}  // namespace paddock::service
