"""Times softmax(data + bias) of PyTorch beside kernelpack; part of tools/gpu.

Per case of the package's bench.json: torch eager, torch.compile(max-autotune) and kernelpack take turns, each on the same
shapes and dtype. torch is timed by CUDA events around n back-to-back calls, n for 15 ms or at most 1500. Its mode is
max-autotune-no-cudagraphs: with CUDA graphs it would copy the inputs on every call.
"""

import json
import math
import statistics
import time


def compare(machine, arguments, began):
    try:
        import torch
    except ImportError:
        print("\n== torch is not on this machine")
        return
    if not torch.cuda.is_available():
        print("\n== torch sees no GPU")
        return
    library = arguments.libraries[0]
    package = machine.folder / "packages/com.microsoft.BiasSoftmax"
    cases = json.loads((package / "build/webgpu/bench.json").read_text(encoding="utf-8"))["cases"]
    wanted = [text for text in arguments.cases.split(",") if text]
    cases = [each for each in cases if not wanted or any(text in each["id"] for text in wanted)]
    print(f"\n== torch {torch.__version__} beside kernelpack with {library}: us a call; ratio: the better torch over "
          "kernelpack")
    print(f"  {'case':24} {'kernelpack':>10} {'compile':>10} {'eager':>10} {'ratio':>7} {'compiled in':>11}")
    rows = []
    for each in cases:
        if time.monotonic() - began > arguments.seconds:
            print(f"  time is up; {len(cases) - len(rows)} cases are left out")
            break
        rows.append(compare_case(torch, machine, library, each))
        machine.write("torch.json", {"torch": torch.__version__, "library": library, "mode": "max-autotune-no-cudagraphs",
                                     "rows": rows})


def compare_case(torch, machine, library, case):
    dtype = getattr(torch, case["inputs"]["data"]["dtype"])
    shape = case["inputs"]["data"]["shape"]
    bias_shape = case["inputs"]["bias"]["shape"]
    axis = case["attributes"]["axis"]
    torch.manual_seed(1)
    data = torch.empty(shape, device="cuda", dtype=torch.float32).uniform_(-4, 4).to(dtype)
    bias = torch.empty(bias_shape, device="cuda", dtype=torch.float32).uniform_(-4, 4).to(dtype)
    rows, bias_rows = math.prod(shape[:axis]), math.prod(bias_shape[:axis])
    inner = case["attributes"]["is_inner_broadcast"] != 0 and bias_rows > 1
    if inner and list(bias_shape) != broadcastable(bias_shape, shape):
        data = data.reshape(bias_rows, rows // bias_rows, -1)
        bias = bias.reshape(bias_rows, 1, -1)
    elif not inner and bias_rows > 1:
        data = data.reshape(rows // bias_rows, bias_rows, -1)
        bias = bias.reshape(1, bias_rows, -1)

    def eager(x, y):
        return torch.softmax(x + y, dim=-1)

    torch._dynamo.reset()
    started = time.monotonic()
    compiled = torch.compile(eager, mode="max-autotune-no-cudagraphs", dynamic=False)
    compiled(data, bias)
    torch.cuda.synchronize()
    compile_seconds = time.monotonic() - started
    result = {"id": case["id"], "compileSeconds": compile_seconds}
    times = {"eager": [], "compile": [], "kernelpack": []}
    for _ in range(2):
        ours = bench(machine, library, case["id"])
        times["kernelpack"] += ours
        for name, function in (("compile", compiled), ("eager", eager)):
            times[name] += events(torch, function, data, bias)
    del data, bias
    torch.cuda.empty_cache()
    medians = {name: statistics.median(values) for name, values in times.items() if values}
    result.update(seconds=medians, rounds=times)
    if "kernelpack" in medians:
        result["ratio"] = min(medians["compile"], medians["eager"]) / medians["kernelpack"]
    text = {name: f"{1e6 * medians[name]:.1f}" if name in medians else "-" for name in times}
    print(f"  {case['id']:24} {text['kernelpack']:>10} {text['compile']:>10} {text['eager']:>10} "
          f"{result.get('ratio', float('nan')):7.3f} {compile_seconds:9.1f} s", flush=True)
    return result


def broadcastable(bias_shape, shape):
    """The bias's shape if numpy's rules give each data row its bias row, as the inner broadcast does; else nothing."""
    if len(bias_shape) != len(shape):
        return None
    fits = all(b in (1, d) for b, d in zip(bias_shape, shape))
    return list(bias_shape) if fits else None


def bench(machine, library, name):
    """Seconds of every round of kernelpack in one process."""
    file = machine.folder / "one.json"
    ran = machine.start("kernelpack", "bench", "com.microsoft.BiasSoftmax", "--library", library, "--cases", name,
                        "--rounds", 3, "--json", file)
    if ran.returncode != 0:
        print(ran.stderr.rstrip())
        return []
    for each in json.loads(file.read_text(encoding="utf-8"))["cases"]:
        if each["id"] == name and "results" in each and "seconds" in each["results"][0]:
            return each["results"][0]["seconds"]["rounds"]
    return []


def events(torch, function, data, bias):
    def timed(calls):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(calls):
            function(data, bias)
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1e-3

    # As kernelpack: a second of load raises the clocks of a GPU that was idle.
    end = time.monotonic() + 1
    while time.monotonic() < end:
        timed(20)
    calls = max(1, min(1500, math.ceil(0.015 / max(timed(3) / 3, 1e-7))))
    timed(calls)
    return [timed(calls) / calls for _ in range(3)]
