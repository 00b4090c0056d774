"""measure.yaml as a plan: conditions, complete blocks, selection, and mistakes with line numbers."""

from __future__ import annotations

from collections import Counter

import pytest

from rawperf.core.errors import RawperfError, StudyError
from virtperf.measure.plan import load_definition, plan
from virtperf.study.definition import load_study

TWO = [
    {"name": "cpu", "over": {"guests": [1, 2, 4]}},
    {"name": "modes", "at": {"guests": 2}, "over": {"mode": ["plain", "$(touch y)"]}},
]


def runs(repository, *only, replicates=None, **fields):
    if fields:
        repository.write(**fields)
    harness = repository.harness()
    return plan(harness.definition, harness.study, replicates, only)


def test_blocks_are_complete_and_experiments_run_in_sequence(repository):
    planned = runs(repository, experiments=TWO, replicates=5)
    assert [run.experiment.name for run in planned] == ["cpu"] * 15 + ["modes"] * 10
    for block in range(5):
        part = planned[3 * block : 3 * block + 3]
        assert sorted(run.levels["guests"] for run in part) == [1, 2, 4]
        assert {run.replicate for run in part} == {block + 1}
    assert len({run.run_id for run in planned}) == len({run.seed for run in planned}) == 25


def test_order_is_shuffled_by_the_seed_alone(repository):
    first = [run.run_id for run in runs(repository, experiments=TWO, replicates=20)]
    assert [run.run_id for run in runs(repository, replicates=20)] == first
    orders = Counter(
        tuple(name.rsplit("-", 1)[0] for name in first[3 * b : 3 * b + 3]) for b in range(20)
    )
    assert (
        len(orders) > 2
    )  # 20 draws of 6 orders: fewer than 3 have a probability of 15 * (2/6)**20
    assert [run.run_id for run in runs(repository, seed=8, experiments=TWO, replicates=20)] != first


def test_changed_replicates_or_conditions_keep_the_remaining_order(repository):
    few = [run.run_id for run in runs(repository, experiments=TWO, replicates=2)]
    many = [run.run_id for run in runs(repository, replicates=3)]
    assert [name for name in many if not name.endswith("r3")] == few
    chosen = [run.run_id for run in runs(repository, "cpu", "guests=1", "guests=4")]
    assert chosen == [name for name in few if name.startswith(("cpu-guests-1", "cpu-guests-4"))]
    assert [run.run_id for run in runs(repository, "mode=plain", "guests=2")] == [
        name for name in few if name.startswith(("cpu-guests-2", "modes-plain"))
    ]


def test_every_factor_has_a_level_and_run_names_are_safe(repository):
    planned = runs(repository, experiments=TWO)
    assert all(set(run.levels) == {"guests", "mode"} for run in planned)
    assert {run.run_id for run in planned if run.replicate == 1} == {
        "cpu-guests-1-r1",
        "cpu-guests-2-r1",
        "cpu-guests-4-r1",
        "modes-plain-r1",
        "modes-touch-y-r1",
    }


def test_experiment_inherits_top_level_fields(repository):
    own = {"name": "long", "at": {"guests": 1}, "window_s": 9, "replicates": 1, "monitors": []}
    repository.write(monitors=["vmstat 1"], experiments=[{"name": "cpu", "at": {"guests": 1}}, own])
    short, long = repository.harness().definition.experiments
    assert (short.window_s, short.replicates, len(short.monitors)) == (0.2, 2, 1)
    assert (long.window_s, long.replicates, long.monitors, long.workload) == (
        9,
        1,
        (),
        short.workload,
    )
    assert long.expected_s == 9


def test_experiment_may_inherit_from_an_earlier_one(repository):
    cpu = {"name": "cpu", "over": {"guests": [1, 2]}, "warmup_s": 3, "workload": ["own {seconds}"]}
    long = {"name": "long", "like": "cpu", "over": {"guests": [2]}, "window_s": 9}
    repository.write(experiments=[cpu, long])
    short, long = repository.harness().definition.experiments
    assert (short.window_s, long.window_s) == (0.2, 9)
    assert (long.name, long.over, long.warmup_s) == ("long", {"guests": (2,)}, 3)
    assert long.workload == short.workload
    assert [run.run_id for run in runs(repository, "long")] == [
        "long-guests-2-r1",
        "long-guests-2-r2",
    ]


@pytest.mark.parametrize(
    ("only", "words"),
    [
        ("cpus", "unknown experiment 'cpus'. Did you mean 'cpu'?"),
        ("guest=1", "unknown factor 'guest'. Did you mean 'guests'?"),
        ("guests=3", "unknown level '3' of guests"),
    ],
)
def test_selection_that_matches_nothing_is_rejected(repository, only, words):
    with pytest.raises(RawperfError, match=words.replace("?", r"\?")):
        runs(repository, only)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            "experiments: [{name: a, over: {guests: [1]}}]\nworkload: ['x {guest}']",
            3,
            "unknown placeholder {guest}: did you mean 'guests'?",
        ),
        (
            "experiments: [{name: a, over: {guests: [1]}}]\nworkload: ['x {guests!r}']",
            3,
            "unknown placeholder {guests",
        ),
        (
            "experiments: [{name: a, over: {guests: [1]}}]\nworkload: ['x {guests.real}']",
            3,
            "unknown placeholder {guests",
        ),
        (
            "experiments: [{name: a, over: {guests: [1]}}]\nworkload: [{run: x, output: ../y}]",
            3,
            "leads out of the run folder",
        ),
        (
            "experiments: [{name: a, over: {guests: [1]}}]\nworkload: [{run: x, output: .y}]",
            3,
            "hidden",
        ),
        (
            "experiments: [{name: a, over: {guests: [1]}}]\nworkload: [{run: x, count: many}]",
            3,
            "count is 'many'",
        ),
        ("experiments: [{name: a, over: {guests: [1]}}]\nworkload: [x '", 4, "not valid YAML"),
        (
            "experiments: [{name: a, over: {guests: [1]}}]\nworkload: ['x \"']",
            3,
            "No closing quotation",
        ),
        (
            "experiments: [{name: a, over: {guests: [1]}}]\nworkload: [{run: [a, b], shell: true}]",
            3,
            "single string",
        ),
        (
            "experiments: [{name: a, over: {guests: [1]}}]\nworkload: [{run: x, stop: INT}]",
            3,
            "SIGINT",
        ),
        ("experiments: [{name: a, over: {guests: [1]}}]", 2, "a has no workload"),
        (
            "workload: [x]\nexperiments:\n  - name: a\n    over: {guests: [3]}",
            5,
            "unknown level 3 of guests",
        ),
        (
            "workload: [x]\nexperiments:\n  - name: a\n    at: {gusts: 3}",
            5,
            "unknown factor 'gusts'",
        ),
        ("workload: [x]\nexperiments:\n  - name: a", 4, "no level for guests"),
        (
            "workload: [x]\nexperiments:\n  - {name: a, at: {guests: 1}}\n  - {name: a, at: {guests: 2}}",
            3,
            "two runs would be named a-r1",
        ),
        (
            "workload: [x]\nexperiments:\n  - {name: cpu, at: {guests: 1}}\n"
            "  - {name: a, like: cpo, at: {guests: 1}}",
            5,
            "no earlier experiment is named 'cpo'. Did you mean 'cpu'?",
        ),
        (
            "experiments:\n  - {name: cpu, at: {guests: 1}, workload: [x], replicates: 2}\n"
            "  - {name: a, like: cpu, at: {guests: 1}, until: {quantity: speed}}",
            4,
            "no quantity 'speed'",
        ),
        (
            "workload: [{run: x, stop: SIGINT}]\nexperiments:\n  - {name: a, at: {guests: 1}}",
            4,
            "a never ends",
        ),
        (
            "windows: 3\nworkload: [x]\nexperiments: [{name: a, at: {guests: 1}}]",
            2,
            "unknown key 'windows'",
        ),
        (
            "workload: [x]\nexperiments:\n  - {name: a, at: {guests: 1}, window: 3}",
            4,
            "unknown key 'window'",
        ),
        (
            "workload: [x]\nexperiments:\n  - {name: a, at: {guests: 1}}\n  - {name: b, at: {guests: 1}, seed: 3}",
            5,
            "unknown key 'seed'",
        ),
        (
            "tools: {x: 'x {guests}'}\nworkload: [x]\nexperiments: [{name: a, at: {guests: 1}}]",
            2,
            "x: unknown placeholder {guests}",
        ),
        (
            "disturbed: {steal: 3}\nworkload: [x]\nexperiments: [{name: a, at: {guests: 1}}]",
            2,
            "did you mean 'steal_percent'",
        ),
    ],
)
def test_mistakes_are_reported_with_line_number(repository, text, line, words):
    (repository.runs / "measure.yaml").write_text(f"seed: 1\n{text}\n")
    with pytest.raises(StudyError) as caught:
        repository.harness()
    assert words.lower() in str(caught.value).lower()
    assert (caught.value.file, caught.value.line) == ("measure.yaml", line)


def test_factor_may_not_have_a_reserved_name(repository):
    path = repository.root / "data" / "published" / "toy" / "study.yaml"
    path.write_text(path.read_text().replace("guests:", "seed:"))
    repository.write(workload=["x {seed}"], experiments=[{"name": "a", "at": {"seed": 1}}])
    with pytest.raises(StudyError, match="name of a placeholder of the harness"):
        repository.harness()


def test_all_mistakes_are_listed(repository):
    repository.write(workload=["x {a}"], monitors=["y {b}"])
    found: list[object] = []
    load_definition(
        repository.runs / "measure.yaml",
        load_study(repository.root / "data" / "published" / "toy"),
        found.append,
    )
    assert len(found) == 2


def test_until_limits_the_number_of_blocks_and_reports_mistakes(repository):
    until = {"quantity": "load", "half_width": "2.5 %", "at_most": 7, "to": {"guests": 1}}
    repository.write(until=until)
    made = repository.harness()
    rule = made.definition.experiments[0].until
    assert (rule.half_width, rule.at_most, rule.to) == (0.025, 7, {"guests": 1})
    assert len(plan(made.definition, made.study)) == 14
    assert len(plan(made.definition, made.study, adaptive=False)) == 4
    assert len(plan(made.definition, made.study, 3)) == 6
    cases = {
        "no quantity 'lod'": {"quantity": "lod"},
        "no condition with guests 4": {"to": {"guests": 4}},
        "at_most": {"at_most": 5},
        "half_width": {"half_width": "much"},
    }
    for words, wrong in cases.items():
        repository.write(until=until | wrong)
        with pytest.raises(StudyError, match=words):
            repository.harness()
