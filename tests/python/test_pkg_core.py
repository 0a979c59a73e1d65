# SPDX-License-Identifier: Apache-2.0
"""The plain functions give what the tool gives, as NumPy arrays; what goes wrong is an exception with the library's
sentence."""

import json
import subprocess
import sys

import numpy as np
import pytest
from package import SOURCE, same, tool

import xstage
from xstage import AttentionShape, AttentionTiles, MoeShape, MoeTiles, Traffic

SYNTHETIC = (
    "sim:producers=16,drain=100GB/s,per-producer=40KiB,total=512KiB,floor=50GB/s,fence=2us,spread=0.2,noise=0.01,seed=3"
)
KERNEL = SOURCE / "examples/traffic/gemm-reduce-scatter.json"


@pytest.fixture(scope="module")
def profile():
    return xstage.Profile.load("h200x2-nvlink")


def test_imports_without_torch_and_without_a_library():
    code = "import sys; sys.modules['torch'] = None; import xstage; print(xstage.__version__)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SOURCE / "python"), "XSTAGE_LIB": "/nowhere/libxstage.so"},
    )
    assert run.stdout.strip() == xstage.__version__, run.stderr
    code += "\ntry:\n  xstage.version()\nexcept xstage.UnavailableError as error:\n  print(error)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SOURCE / "python"), "XSTAGE_LIB": "/nowhere/libxstage.so"},
    )
    assert "or name its file in XSTAGE_LIB" in run.stdout and "/nowhere/libxstage.so" in run.stdout


def test_profiles(profile, tmp_path):
    assert profile.name == "h200x2-nvlink" and profile.sm_count == 132
    assert profile.path_names()[0] == "peer/st16" and len(profile.paths) == len(profile.path_names())
    profile.save(tmp_path / "p.json")
    assert xstage.Profile.load(tmp_path / "p.json").id == profile.id
    assert xstage.Profile.parse((tmp_path / "p.json").read_text()).data == profile.data
    assert {"h200x2-nvlink", "h200-host", "paper-148sm"} <= set(xstage.stored())
    with pytest.raises(xstage.ExistsError, match="p.json"):
        profile.save(tmp_path / "p.json")
    with pytest.raises(FileExistsError):
        profile.save(tmp_path / "p.json")
    profile.save(tmp_path / "p.json", force=True)
    with pytest.raises(xstage.UsageError, match="did you mean h200x2-nvlink"):
        xstage.Profile.load("h200x2-nvlin")
    with pytest.raises(xstage.ParseError):
        xstage.Profile.parse("{")
    with pytest.raises(xstage.FileError, match="/nowhere/p.json"):
        xstage.Profile.load("/nowhere/p.json")


def test_predictions_are_the_tools(profile):
    found = xstage.predict(profile, 132, [[16384], [32768]], [0, 4, 8, 40])
    assert found.issue_us.shape == (2, 4)
    rows = tool(
        "predict", "--producers", "132", "--bytes", "16K,32K", "--gap-us", "0,4,8,40", "--profile", "h200x2-nvlink"
    )["rows"]
    for row in rows:
        at = ([16384, 32768].index(row["bytes_per_producer"]), [0, 4, 8, 40].index(row["gap_us"]))
        for name, values in found.as_dict().items():
            if name in row:
                value = values[at]
                assert (row[name] is None) == bool(np.isnan(value)), name
                assert row[name] is None or np.isclose(value, row[name], rtol=1e-8), name
    assert not found.extrapolated.any() and (found.reasons == "").all()
    scalar = xstage.predict("h200x2-nvlink", 132, 32768, 8)
    assert scalar.period_us.shape == () and scalar.period_us == found.period_us[1, 2]
    assert xstage.predict(profile, np.zeros(0), 1).issue_us.shape == (0,)


def test_what_is_not_known_is_nan_with_a_reason():
    found = xstage.predict("paper-148sm", [148, 10], 32768, 4)
    assert np.isnan(found.issue_us[1]) and found.reasons[1].startswith("the profile has no")
    with pytest.raises(AttributeError, match="issue_us"):
        found.isue_us
    with pytest.raises(xstage.RangeError, match="producers is 0.5"):
        xstage.predict("h200x2-nvlink", 0.5, 1)
    with pytest.raises(xstage.NoDataError, match="has no path host/st16"):
        xstage.predict("h200x2-nvlink", 1, 1, target="host")
    with pytest.raises(ValueError, match="valid are st16, st4, bulk"):
        xstage.predict("h200x2-nvlink", 1, 1, method="st17")


def test_audits_are_the_tools(profile):
    for ours, arguments in (
        (xstage.audit(AttentionShape.preset("flux1"), profile), ["fa-a2a", "--preset", "flux1", "--ranks", "2"]),
        (
            xstage.audit(
                AttentionShape(24, 128, 4608, ranks=4), profile, tiles=AttentionTiles(method="bulk", tile_rows=192)
            ),
            [
                "fa-a2a",
                "--heads",
                "24",
                "--head-dim",
                "128",
                "--seq",
                "4608",
                "--ranks",
                "4",
                "--method",
                "bulk",
                "--tile-rows",
                "192",
            ],
        ),
        (
            xstage.audit(MoeShape.preset("qwen3-30b", 8), profile, tiles=MoeTiles(schedule="interleaved"), lead=200),
            ["moe", "--preset", "qwen3-30b", "--ranks", "8", "--schedule", "interleaved", "--lead", "200"],
        ),
        (xstage.audit(Traffic(KERNEL), profile), [str(KERNEL)]),
    ):
        document = tool("audit", *arguments, "--profile", "h200x2-nvlink", codes=(0, 1))
        theirs = document["audits"][0] if "audits" in document else document
        skip = {"name", "profile"}
        same({key: value for key, value in ours.data.items() if key not in skip}, theirs)
        assert ours.verdict == theirs["verdict"] and ours.holds == (ours.verdict == "piggyback")
        assert str(ours.sentence) in repr(ours) and ours.numbers and isinstance(ours.actions, list)


def test_traffic_from_a_dictionary():
    document = {key: value for key, value in json.loads(KERNEL.read_text()).items() if key != "schema"}
    assert xstage.audit(Traffic(document)).data["numbers"] == xstage.audit(Traffic(KERNEL)).data["numbers"]
    with pytest.raises(xstage.ParseError, match="gap_us"):
        Traffic({**document, "gap_u": 1})
    with pytest.raises(xstage.UsageError, match="tiles do not go"):
        xstage.audit(Traffic(document), tiles=AttentionTiles())
    with pytest.raises(xstage.UsageError, match="MoeTiles goes with MoeShape"):
        xstage.audit(MoeShape.preset("qwen3-30b"), tiles=AttentionTiles())
    with pytest.raises(xstage.UsageError, match="flux1"):
        AttentionShape.preset("flux")
    with pytest.raises(xstage.RangeError, match="head_dim"):
        xstage.audit(AttentionShape(24, -1, 4608))


def test_plans_are_the_tools(profile, tmp_path):
    zipf = ["--routing", "zipf", "--skew", "1"]
    for ours, arguments in (
        (xstage.plan(AttentionShape.preset("flux1", 4), profile), ["fa-a2a", "--preset", "flux1", "--ranks", "4"]),
        (
            xstage.plan(MoeShape.preset("qwen3-30b", 4), profile, routing="zipf", skew=1),
            ["moe", "--preset", "qwen3-30b", "--ranks", "4", *zipf],
        ),
        (
            xstage.plan(MoeShape.preset("qwen3-30b", 4), profile, routing="zipf", skew=1, dtype="e4m3"),
            ["moe", "--preset", "qwen3-30b", "--ranks", "4", *zipf, "--dtype", "e4m3"],
        ),
        (xstage.plan(Traffic(KERNEL), profile, methods=("st16",)), [str(KERNEL), "--method", "st16"]),
    ):
        theirs = tool("plan", *arguments, "--profile", "h200x2-nvlink")
        same({key: value for key, value in ours.data.items() if key not in {"name", "schema"}}, theirs)
        assert ours.chosen["predicted_us"] == min(
            c["predicted_us"] for c in ours.considered if c["predicted_us"] is not None
        )
        ours.save(tmp_path / "plan.json", force=True)
        assert xstage.Plan.load(tmp_path / "plan.json").data == ours.data
    shape = MoeShape.preset("qwen3-30b", 4)
    counts = xstage.routing(shape, "zipf", 1)
    assert counts.sum() == shape.ranks * shape.tokens * shape.topk
    assert xstage.plan(shape, profile, counts=counts).data == xstage.plan(shape, profile, routing="zipf", skew=1).data
    with pytest.raises(xstage.UsageError, match="one number for each of 128"):
        xstage.plan(shape, profile, counts=counts[:3])
    with pytest.raises(xstage.RangeError, match="rank is 4, outside 0..3"):
        xstage.plan(shape, profile, rank=4)
    with pytest.raises(xstage.RangeError, match="ranks is 0"):
        xstage.plan(MoeShape(128, 64, 8, 2, 16, 0), profile, counts=[1] * 8)
    for words in ({"counts": [1]}, {"dtype": "e4m3"}):
        with pytest.raises(xstage.UsageError, match="go with a MoeShape"):
            xstage.plan(AttentionShape.preset("flux1"), profile, **words)
    with pytest.raises(xstage.UsageError, match='dtype is "fp8"; valid are bf16, e4m3'):
        xstage.plan(shape, profile, dtype="fp8")


def test_the_order_of_a_fused_layer(profile):
    shape = MoeShape.preset("qwen3-30b", 4)
    for tile_rows, dtype in ((64, "bf16"), (128, "bf16"), (256, "bf16"), (128, "e4m3")):
        words = {"routing": "zipf", "skew": 0.8, "tile_rows": tile_rows, "dtype": dtype, "extrapolate": True}
        order = xstage.moe_order(shape, profile, **words)
        assert (
            order.tile_rows == tile_rows and order.schedule in ("wave", "interleaved") and order.slices in (1, 2, 4, 8)
        )
        assert order.store in ("at_once", "paced") and (order.schedule == "wave" or order.lead >= 1)
    counts = xstage.routing(shape, "zipf", 0.8)
    assert xstage.moe_order(shape, profile, counts=counts) == xstage.moe_order(shape, profile, routing="zipf", skew=0.8)
    with pytest.raises(xstage.RangeError, match="tile_rows"):
        xstage.moe_order(shape, profile, tile_rows=0)
    with pytest.raises(xstage.RangeError, match="rank is -1, outside 0..3"):
        xstage.moe_order(shape, profile, rank=-1)


def test_simulations_are_the_tools(profile):
    for ours, arguments in (
        (
            xstage.simulate(AttentionShape.preset("flux1", 4), profile, jitter=0.1, seed=7),
            ["fa-a2a", "--preset", "flux1", "--ranks", "4", "--jitter", "0.1", "--seed", "7"],
        ),
        (
            xstage.simulate(AttentionShape.preset("flux1", 2), profile, as_traced=True, issuer="role", slices=4),
            ["fa-a2a", "--preset", "flux1", "--ranks", "2", "--as-traced", "--issuer", "role", "--slices", "4"],
        ),
        (
            xstage.simulate(MoeShape(2048, 512, 32, 4, 512), profile, tiles=MoeTiles(schedule="interleaved")),
            [
                "moe",
                "--hidden",
                "2048",
                "--inter",
                "512",
                "--experts",
                "32",
                "--topk",
                "4",
                "--tokens",
                "512",
                "--schedule",
                "interleaved",
            ],
        ),
        (
            xstage.simulate(MoeShape.preset("qwen3-30b", 4), profile, dtype="e4m3", dedup=True),
            ["moe", "--preset", "qwen3-30b", "--ranks", "4", "--dtype", "e4m3", "--dedup"],
        ),
        (
            xstage.simulate(Traffic(KERNEL), profile, ranks=3, exact_links=True),
            [str(KERNEL), "--ranks", "3", "--exact-links"],
        ),
    ):
        theirs = tool("simulate", *arguments, "--profile", "h200x2-nvlink")
        same(
            {"barrier_us": ours.barrier_us, "combine_us": ours.combine_us} if "barrier_us" in theirs else {},
            theirs,
            digits=7,
        )
        assert ("publish_us" in theirs) == (ours.publish_us is not None)
        same(
            {"makespan_us": ours.makespan_us, "exposed_us": ours.exposed_us, "sender_us": ours.sender_us},
            theirs,
            digits=7,
        )
        assert (ours.ranks()["visible_us"] <= ours.makespan_us * (1 + 1e-12)).all()
        assert len(ours.series()) > 1 and (np.diff(ours.series()["time_us"]) > 0).all()
    ours = xstage.simulate(AttentionShape.preset("flux1"), profile, pictures=True, free_run=False)
    assert ours.free_us is None and ours.svg("FLUX.1").startswith("<svg") and "FLUX.1" in ours.svg("FLUX.1")
    assert json.loads(ours.trace())["traceEvents"]
    with pytest.raises(xstage.UsageError, match="pictures=True"):
        xstage.simulate(Traffic(KERNEL), profile, ranks=2).svg()
    with pytest.raises(xstage.UsageError, match="as_traced goes with an AttentionShape"):
        xstage.simulate(Traffic(KERNEL), profile, as_traced=True)
    assert xstage.knee(MoeShape.preset("qwen3-30b"), MoeTiles(schedule="interleaved")) == 111
    with pytest.raises(TimeoutError, match="Linear"):
        xstage.simulate(
            MoeShape(2048, 768, 128, 8, 1024), profile, tiles=MoeTiles(schedule="interleaved"), lead=300, ring_blocks=3
        )


def test_calibrations_are_the_tools(tmp_path):
    for machine in ("recorded", SYNTHETIC, "sim:h200-host", f"file:{SOURCE}/data/h200-host-bursts.csv"):
        ours = xstage.calibrate(machine)
        theirs = tool("calibrate", "--machine", machine)
        assert ours.profile.id == theirs["profile"]["id"] and ours.machine == machine
        assert len(ours.samples.table()) == theirs["rows"]
    ours.report(tmp_path / "page.html")
    assert "<html" in (tmp_path / "page.html").read_text()
    assert ours.figures(tmp_path / "figures")
    period = ours.validation[(ours.validation["quantity"] == "period") & (ours.validation["model"] == "law")]
    assert len(period) and (period["median_abs_rel_err"] < 0.2).all()
    ours.samples.write(tmp_path / "rows.csv")
    again = xstage.fit(xstage.Samples.read(tmp_path / "rows.csv"))
    assert again.profile.paths == xstage.fit(ours.samples).profile.paths
    assert (again.samples.table()["total_us"] == ours.samples.table()["total_us"]).all()
    with pytest.raises(xstage.UsageError, match="valid are cuda"):
        xstage.calibrate("gpu")
    with pytest.raises(xstage.UsageError, match="drian"):
        xstage.calibrate("sim:producers=16,drian=1GB/s")
    with pytest.raises(xstage.WaitTimeoutError):
        xstage.calibrate(SYNTHETIC, timeout_s=1e-6)
    with pytest.raises(xstage.NoDataError):
        xstage.fit(xstage.Samples())


def test_sample_tables():
    samples = xstage.Samples.read(SOURCE / "data/h200x2-bursts.csv", SOURCE / "data/h200x2-bystander.csv")
    bursts, bystanders = samples.table(), samples.table("bystander")
    assert samples.counts()["burst"] == len(bursts) and len(samples) == len(bursts) + len(bystanders)
    assert set(bursts["target"]) <= {"peer", "local"} and set(bystanders["op"]) >= {"load"}
    assert (bursts["issue_mean_us"] >= 0).all() and bursts["producers"].max() == 132
    with pytest.raises(xstage.ParseError, match="text:2"):
        xstage.Samples.parse([(SOURCE / "data/h200x2-bursts.csv").read_text().splitlines()[0] + "\nnonsense\n"])
    with pytest.raises(xstage.UsageError, match="valid are burst"):
        samples.table("bursts")
