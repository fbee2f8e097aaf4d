#include "service/metrics.h"

#include <fmt/core.h>

#include <array>

namespace paddock::service {
namespace {

constexpr std::array kBuckets{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,  0.25,
                              0.5,   1.0,    2.5,   5.0,  10.0,  60.0, 600.0};

std::string_view word_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter:
      return "counter";
    case MetricKind::gauge:
      return "gauge";
    case MetricKind::histogram:
      return "histogram";
  }
  return "untyped";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

// `a="x",b="y"`, without braces.
std::string text_of(const Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out += ',';
    out += fmt::format("{}=\"{}\"", name, escaped(value));
  }
  return out;
}

std::string sample(std::string_view name, std::string_view suffix, const std::string& labels,
                   const std::string& value) {
  if (labels.empty()) return fmt::format("{}{} {}\n", name, suffix, value);
  return fmt::format("{}{}{{{}}} {}\n", name, suffix, labels, value);
}

std::string with_bound(const std::string& labels, const std::string& bound) {
  return labels + (labels.empty() ? "" : ",") + "le=\"" + bound + "\"";
}

}  // namespace

std::span<const double> metric_buckets() {
  return kBuckets;
}

Metrics::Family& Metrics::family(const Metric& metric) {
  auto [found, made] = families_.try_emplace(metric.name);
  if (made) found->second.metric = metric;
  return found->second;
}

void Metrics::add(const Metric& metric, const Labels& labels, double by) {
  family(metric).values[text_of(labels)] += by;
}

void Metrics::set(const Metric& metric, const Labels& labels, double value) {
  family(metric).values[text_of(labels)] = value;
}

void Metrics::observe(const Metric& metric, const Labels& labels, double seconds) {
  Histogram& histogram = family(metric).histograms[text_of(labels)];
  histogram.buckets.resize(kBuckets.size());
  for (size_t i = 0; i < kBuckets.size(); ++i) histogram.buckets[i] += seconds <= kBuckets[i];
  histogram.sum += seconds;
  ++histogram.count;
}

std::string Metrics::text() const {
  std::string out;
  for (const auto& [name, family] : families_) {
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, family.metric.help, name,
                       word_of(family.metric.kind));
    for (const auto& [labels, value] : family.values) {
      out += sample(name, "", labels, fmt::format("{}", value));
    }
    for (const auto& [labels, histogram] : family.histograms) {
      for (size_t i = 0; i < kBuckets.size(); ++i) {
        out += sample(name, "_bucket", with_bound(labels, fmt::format("{}", kBuckets[i])),
                      fmt::format("{}", histogram.buckets[i]));
      }
      out += sample(name, "_bucket", with_bound(labels, "+Inf"), std::to_string(histogram.count));
      out += sample(name, "_sum", labels, fmt::format("{}", histogram.sum));
      out += sample(name, "_count", labels, std::to_string(histogram.count));
    }
  }
  return out;
}

}  // namespace paddock::service
