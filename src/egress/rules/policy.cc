#include "egress/rules/policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace paddock::egress {
namespace {

using model::EgressAction;
using List = std::vector<Rule>;

Verdict allowed_by(const Rule& rule) {
  return {.answer = Answer::allow,
          .rules = {&rule},
          .audited = rule.action() == EgressAction::audit,
          .reason = {}};
}

Verdict refused_by(const Rule& rule, Match match) {
  std::string reason = rule.source().reason;
  if (reason.empty()) {
    reason = match == Match::unknown ? "it cannot be told from what this rule refuses" : "refused";
  }
  return {.answer = Answer::deny, .rules = {&rule}, .audited = false, .reason = std::move(reason)};
}

Verdict held_by(const Rule& rule) {
  const std::string& reason = rule.source().reason;
  return {.answer = Answer::hold,
          .rules = {&rule},
          .audited = false,
          .reason = reason.empty() ? "a push to these refs is reviewed first" : reason};
}

Verdict no_rule() {
  return {.answer = Answer::deny, .rules = {}, .audited = false, .reason = "no rule allows it"};
}

Verdict undecided(Answer answer) {
  return {.answer = answer, .rules = {}, .audited = false, .reason = {}};
}

Verdict decide_by(const List& list, const Target& target, const Seen& seen) {
  for (const Rule& rule : list) {
    const Match match = rule.matches(target, seen);
    if (match == Match::more_bytes) return undecided(Answer::needs_bytes);
    if (match == Match::open) return undecided(Answer::needs_opening);
    if (match == Match::hold) return held_by(rule);
    const bool met = match == Match::yes || (match == Match::unknown && !rule.lets_through());
    if (!met) continue;
    return rule.lets_through() ? allowed_by(rule) : refused_by(rule, match);
  }
  return no_rule();
}

// A name is worth an address when a rule lets through some port that no earlier rule refuses whole.
Verdict resolve_by(const List& list, const HostName& name) {
  std::vector<const PortSet*> refused;
  const Rule* refusal = nullptr;
  for (const Rule& rule : list) {
    if (!rule.covers_host(name)) continue;
    if (rule.lets_through()) {
      if (rule.ports().reaches_beyond(refused)) return allowed_by(rule);
    } else if (rule.is_unconditional()) {
      refused.push_back(&rule.ports());
      if (refusal == nullptr) refusal = &rule;
    }
  }
  return refusal == nullptr ? no_rule() : refused_by(*refusal, Match::yes);
}

// All must allow; a denial in any is final; then opening is asked for, then bytes, then a review.
Verdict meet(Verdict a, Verdict b) {
  for (Answer worst : {Answer::deny, Answer::needs_opening, Answer::needs_bytes, Answer::hold}) {
    if (a.answer == worst) return a;
    if (b.answer == worst) return b;
  }
  a.rules.insert(a.rules.end(), b.rules.begin(), b.rules.end());
  a.audited = a.audited || b.audited;
  return a;
}

template <typename Ask>
Verdict all_lists(const std::vector<List>& lists, Ask ask) {
  if (lists.empty()) return no_rule();
  Verdict verdict = ask(lists.front());
  for (size_t i = 1; i < lists.size(); ++i) verdict = meet(std::move(verdict), ask(lists[i]));
  return verdict;
}

Status check_names(const List& list) {
  std::set<std::string> seen;
  for (const Rule& rule : list) {
    if (!seen.insert(rule.name()).second) {
      return Error(Code::invalid_argument,
                   fmt::format("egress rule {}: two rules have this name", rule.name()));
    }
  }
  return {};
}

}  // namespace

std::string Verdict::rule_name() const {
  return rules.empty() ? "egress" : "egress:" + rules.front()->name();
}

Result<std::shared_ptr<const Policy>> Policy::compile(const model::EgressPolicy& source) {
  auto policy = std::make_shared<Policy>();
  for (const auto& rules : source.lists) {
    List list;
    for (const model::EgressRule& rule : rules) {
      list.push_back(PD_TRY(Rule::compile(rule, list.size() + 1)));
    }
    PD_TRY(check_names(list));
    policy->lists_.push_back(std::move(list));
  }
  return std::shared_ptr<const Policy>(std::move(policy));
}

Verdict Policy::resolve(const HostName& name) const {
  return all_lists(lists_, [&](const List& list) { return resolve_by(list, name); });
}

Verdict Policy::decide(const Target& target, const Seen& seen) const {
  return all_lists(lists_, [&](const List& list) { return decide_by(list, target, seen); });
}

std::optional<Verdict> Policy::refusal_of(const Host& host, uint16_t port) const {
  const Target target{host, port};
  for (const List& list : lists_) {
    for (const Rule& rule : list) {
      if (!rule.covers(target)) continue;
      if (rule.lets_through()) break;
      return refused_by(rule, Match::yes);
    }
  }
  return std::nullopt;
}

bool Policy::names_exactly(const Target& target, const model::IpAddress& address) const {
  return std::any_of(lists_.begin(), lists_.end(), [&](const List& list) {
    return std::any_of(list.begin(), list.end(), [&](const Rule& rule) {
      return rule.lets_through() && rule.covers(target) && rule.names_exactly(address);
    });
  });
}

std::vector<model::Cidr> Policy::literal_blocks() const {
  std::set<model::Cidr> blocks;
  for (const List& list : lists_) {
    for (const Rule& rule : list) {
      if (!rule.lets_through() || rule.source().hosts) continue;
      if (rule.source().every_public_address) {
        for (const char* all : {"0.0.0.0/0", "::/0"}) {
          blocks.insert(model::Cidr::parse(all).value());
        }
      }
      blocks.insert(rule.addresses().begin(), rule.addresses().end());
    }
  }
  return {blocks.begin(), blocks.end()};
}

bool Policy::empty() const {
  return lists_.empty() || std::any_of(lists_.begin(), lists_.end(), [](const List& list) {
           return std::none_of(list.begin(), list.end(),
                               [](const Rule& rule) { return rule.lets_through(); });
         });
}

}  // namespace paddock::egress
