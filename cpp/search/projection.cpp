#include "search/projection.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/costs.hpp"

namespace lawful {

namespace {

/// The fields that a rule reads.
std::vector<std::uint32_t> fields_of(const RulePlan& rule, const Plan& plan,
                                     const DocumentTables& tables) {
    const std::vector<std::uint32_t> read = slots_of(rule.program, tables);
    std::vector<std::uint32_t> fields;
    for (std::uint32_t field = 0; field < plan.fields.size(); ++field) {
        const std::vector<std::uint32_t> slots = slots_of(plan.fields[field]);
        const bool reads = std::any_of(read.begin(), read.end(), [&](std::uint32_t slot) {
            return std::find(slots.begin(), slots.end(), slot) != slots.end();
        });
        if (reads) fields.push_back(field);
    }
    return fields;
}

/// Whether an equation is, or may be, the form of a rule that reads these fields.
bool covers(const Equation& equation, const RulePlan& rule,
            const std::vector<std::uint32_t>& fields) {
    return equation.weight == rule.weight && equation.unchecked == rule.unchecked &&
           equation.early == rule.early &&
           std::all_of(equation.terms.begin(), equation.terms.end(), [&](const Term& term) {
               return std::find(fields.begin(), fields.end(), term.field) != fields.end();
           });
}

}  // namespace

std::vector<Subject> subjects(const Plan& plan, const DocumentTables& tables,
                              std::span<const std::uint32_t> equations,
                              std::span<const double> missing) {
    std::vector<Subject> single(plan.fields.size()), others;
    for (std::uint32_t r = 0; r < plan.rules.size(); ++r) {
        const RulePlan& rule = plan.rules[r];
        std::vector<std::uint32_t> fields = fields_of(rule, plan, tables);
        const bool covered = std::any_of(
            equations.begin(), equations.end(),
            [&](std::uint32_t equation) { return covers(plan.equations[equation], rule, fields); });
        if (covered || fields.empty() || !rule.any.empty()) continue;
        if (fields.size() == 1)
            single[fields[0]].rules.push_back(r);
        else
            others.push_back({.fields = std::move(fields), .rules = {r}, .orders = {}});
    }
    for (std::uint32_t o = 0; o < plan.orders.size(); ++o)
        others.push_back({.fields = {}, .rules = {}, .orders = {o}});
    std::vector<Subject> all;
    for (std::uint32_t field = 0; field < plan.fields.size(); ++field) {
        const FieldPlan& f = plan.fields[field];
        Subject& subject = single[field];
        subject.fields = {field};
        subject.presence = missing[field] > 0 && (f.many ? f.readable : f.first);
        subject.disagreement = !f.many && f.first && f.disagrees && f.disagreement > 0;
        if (subject.presence || subject.disagreement || !subject.rules.empty())
            all.push_back(std::move(subject));
    }
    std::move(others.begin(), others.end(), std::back_inserter(all));
    return all;
}

Projection::Projection(const Plan& plan, const DocumentTables& tables, const Subject& subject,
                       std::span<const Residues::FieldValue> values)
    : rules_(std::make_unique<Rules>()) {
    rules_->tables = {tables.lookups, std::vector<double>(plan.fields.size()), false};
    keep(plan, subject);
    tracker_ = std::make_unique<RuleTracker>(rules_->plan, rules_->tables);
    arena_ = std::make_unique<Arena>();
    states_ = std::make_unique<StateTable>(*arena_, plan.slots);
    if (subject.presence) needed_ = subject.fields;

    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
    for (const Residues::FieldValue& value : values) {
        action_of_.push_back(kFree);
        if (!tracker_->tracks(value.field)) continue;
        // Orders look at fields only, not at their values.
        const bool alike = slots_of(rules_->plan.fields[value.field]).empty();
        const std::uint32_t seen = alike ? ValueNumber::kUnreadable : value.value;
        const auto [entry, added] =
            numbers.try_emplace({value.field, seen}, static_cast<std::uint32_t>(actions_.size()));
        if (added) actions_.push_back({value.field, seen});
        action_of_.back() = entry->second;
    }
}

/// Copies what the subject needs of a plan.
void Projection::keep(const Plan& plan, const Subject& subject) {
    Plan& made = rules_->plan;
    made.slots = plan.slots;
    made.constant = plan.constant;
    std::vector<bool> read(plan.slots);
    for (const std::uint32_t r : subject.rules) {
        const RulePlan& rule = made.rules.emplace_back(plan.rules[r]);
        for (const std::uint32_t slot : slots_of(rule.program, rules_->tables)) read[slot] = true;
        for (const std::uint32_t field : rule.fields) read[*plan.fields[field].first] = true;
    }
    for (const std::uint32_t field : subject.fields) {
        const FieldPlan& f = plan.fields[field];
        if (subject.presence || subject.disagreement) read[*(f.many ? f.readable : f.first)] = true;
        if (subject.disagreement) read[*f.disagrees] = true;
    }
    for (const FieldPlan& f : plan.fields) {
        FieldPlan& kept = made.fields.emplace_back();
        kept.many = f.many;
        kept.has_default = f.has_default;
        kept.disagreement = f.disagreement;
        kept.numbers = f.numbers;
        kept.equal = f.equal;
        for (const auto slot :
             {&FieldPlan::first, &FieldPlan::disagrees, &FieldPlan::count, &FieldPlan::readable,
              &FieldPlan::sum, &FieldPlan::least, &FieldPlan::greatest})
            if (f.*slot && read[*(f.*slot)]) {
                kept.*slot = f.*slot;
                kept_.push_back(*(f.*slot));
            }
        // Sums and extremes are told apart by it.
        if ((kept.sum || kept.least || kept.greatest) && !kept.readable) {
            kept.readable = f.readable;
            kept_.push_back(*f.readable);
        }
    }
    for (const std::uint32_t order : subject.orders) {
        made.orders.push_back(plan.orders[order]);
        kept_.push_back(plan.orders[order].slot);
    }
}

bool Projection::list_classes(std::size_t most) {
    std::vector<Wide> scratch(rules_->plan.slots);
    states_->number_of(scratch);
    std::vector<Move> moves;  // (classes, actions)
    bool costs = false;
    for (std::uint32_t c = 0; c < states_->size(); ++c) {
        if (states_->size() > most) return false;
        for (const Residues::FieldValue& action : actions_) {
            std::copy_n((*states_)[c].begin(), scratch.size(), scratch.begin());
            const double cost = tracker_->extend(scratch, {action.field}, action.value);
            costs = costs || cost > 0;
            moves.push_back({cost < kForbidden ? states_->number_of(scratch) : c, cost});
        }
        costs = costs || tracker_->finish((*states_)[c]) > 0;
    }
    moves_.resize(moves.size());
    for (std::size_t c = 0; c < classes(); ++c)
        for (std::size_t a = 0; a < actions_.size(); ++a)
            moves_[a * classes() + c] = moves[c * actions_.size() + a];
    return costs || !needed_.empty();
}

std::uint32_t Projection::class_of(std::span<const Wide> state) const {
    std::vector<Wide> seen(rules_->plan.slots);
    for (const std::uint32_t slot : kept_) seen[slot] = state[slot];
    tracker_->forget(seen);
    return states_->find(seen);
}

std::vector<double> Projection::ends(std::span<const double> missing) const {
    std::vector<double> ends;
    for (std::uint32_t c = 0; c < classes(); ++c) {
        double& end = ends.emplace_back(tracker_->finish((*states_)[c]));
        for (const std::uint32_t field : needed_)
            if (missing[field] > 0 && !tracker_->seen((*states_)[c], field)) end += missing[field];
    }
    return ends;
}

}  // namespace lawful
