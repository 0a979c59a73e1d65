#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Several processes: every launcher's variables, one answer whatever their number, only rank 0 speaks, and whatever happens to
# one of them ends all in time.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE \
    SLURM_PROCID SLURM_NTASKS SLURM_LOCALID 2>/dev/null || true
SOURCE_DATE_EPOCH=1796000000
export SOURCE_DATE_EPOCH
stored_profile
mkdir meet
sim='sim:producers=16,drain=372GB/s,per-producer=19KiB,total=2.4MiB,floor=50GB/s,fence=2us,spread=0.25,noise=0.02,seed=1'
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

limit=50 # seconds for each of them

# rank KIND R N ARGUMENTS...: the tool as one process of a job, as a launcher of that kind would start it.
rank()
{
    kind=$1 r=$2 n=$3
    shift 3
    case $kind in
    torchrun) set -- RANK="$r" WORLD_SIZE="$n" LOCAL_RANK="$r" MASTER_ADDR=127.0.0.1 MASTER_PORT="$$" "$xstage" "$@" ;;
    openmpi) set -- OMPI_COMM_WORLD_RANK="$r" OMPI_COMM_WORLD_SIZE="$n" OMPI_COMM_WORLD_LOCAL_RANK="$r" PMIX_NAMESPACE="$$" "$xstage" "$@" ;;
    mpich) set -- PMI_RANK="$r" PMI_SIZE="$n" MPI_LOCALRANKID="$r" "$xstage" "$@" ;;
    slurm) set -- SLURM_PROCID="$r" SLURM_NTASKS="$n" SLURM_LOCALID="$r" SLURM_JOB_ID="$$" "$xstage" "$@" ;;
    file) set -- "$xstage" "$@" --rank "$r" --processes "$n" --rendezvous "file:$scratch/meet" ;;
    tcp) set -- "$xstage" "$@" --rank "$r" --processes "$n" --rendezvous "tcp://127.0.0.1:$port" ;;
    esac
    code=0
    env "$@" --timeout "$limit" >"out.$r" 2>"err.$r" </dev/null || code=$?
    echo "$code" >"code.$r"
}

# job WANTED KIND N ARGUMENTS...: N processes at once; rank 0's exit code, and the output in out and err as after expect.
job()
{
    wanted=$1 launcher=$2 count=$3
    shift 3
    rm -f out.* err.* code.*
    pids=
    i=0
    while [ "$i" -lt "$count" ]; do
        rank "$launcher" "$i" "$count" "$@" &
        pids="$pids $!"
        i=$((i + 1))
    done
    for pid in $pids; do wait "$pid" || true; done
    mv out.0 out
    mv err.0 err
    [ "$(cat code.0)" = "$wanted" ] ||
        fail "$launcher x $count: xstage $*: exit $(cat code.0), wanted $wanted; stderr: $(head -c 400 err)"
}

# The others ended as rank 0 did, and had nothing to say.
others_silent()
{
    for other in out.* err.*; do
        [ ! -e "$other" ] || [ ! -s "$other" ] || fail "$other is not empty: $(head -c 400 "$other")"
    done
    for other in code.*; do
        [ "$(cat "$other")" = "$(cat code.0)" ] || fail "$other is $(cat "$other"), rank 0's $(cat code.0)"
    done
}

# A sweep: the bytes of one process, for every launcher, as CSV and as a document.
sweep='--preset flux1 --vary seq=1K..4K:x2 --vary ranks=2,4 --vary method=st16,bulk -q'
# shellcheck disable=SC2086 # the options are words
{
    expect 0 simulate fa-a2a $sweep --csv
    [ "$(wc -l <out)" -eq 13 ] || fail "a sweep of $(wc -l <out) lines, wanted 13"
    cp out one.csv
    expect 0 simulate fa-a2a $sweep --json --timeout "$limit"
    cp out one.json
    json one.json 'd["schema"] == "xstage.simulate_sweep/1" and d["vary"] == ["seq", "ranks", "method"] and len(d["rows"]) == 12'
    json one.json '[r["seq"] for r in d["rows"]] == [1024] * 4 + [2048] * 4 + [4096] * 4 and d["rows"][1]["method"] == "bulk"'
    for launcher in torchrun openmpi mpich slurm; do
        job 0 $launcher 4 simulate fa-a2a $sweep --json
        cmp -s out one.json || fail "$launcher: another document than that of one process"
        others_silent
    done
    for launcher in torchrun file tcp; do
        for count in 2 3; do
            job 0 $launcher $count simulate fa-a2a $sweep --csv
            cmp -s out one.csv || fail "$launcher x $count: other rows than those of one process"
            others_silent
        done
    done
}
expect 0 simulate fa-a2a --preset flux1 --seq 2K --ranks 4 --method bulk --json -q
python3 - <<'PY' || fail "a point of the sweep differs from the simulation alone"
import json
alone, row = json.load(open("out")), json.load(open("one.json"))["rows"][7]
assert all(row[key] == alone[key] for key in ("makespan_us", "sender_us", "exposed_us", "issue_us", "tiles", "sent_bytes"))
PY

# One simulation, files written by rank 0 alone.
job 0 openmpi 3 simulate fa-a2a --preset flux1 -q --json=doc.json --svg pic.svg
out_has 'fa-a2a flux1 on 2 ranks'
others_silent
for file in doc.json pic.svg; do
    [ -s "$file" ] || fail "rank 0 left no $file"
done

# A schedule that cannot progress is an answer, at every point or at some; the lowest point that fails is the one reported.
stuck='--preset qwen3-30b --tokens 1K --schedule interleaved --ring 3 --no-pull -q'
# shellcheck disable=SC2086
{
    job 0 mpich 2 simulate moe $stuck --vary lead=3,300 --csv
    grep -q '^300,.*no progress' out || fail "no reason beside the stuck point: $(cat out)"
    job 1 mpich 2 simulate moe $stuck --vary lead=300,301
    others_silent
    expect 2 simulate moe --preset qwen3-30b --tokens 512 --vary lead=3,4 -q
    cp err one.err
    job 2 torchrun 2 simulate moe --preset qwen3-30b --tokens 512 --vary lead=3,4 -q
    cmp -s err one.err || fail "another complaint than that of one process: $(cat err)"
    others_silent
}

# Mistakes of --vary.
expect 2 simulate fa-a2a --preset flux1 --vary sed=1
err_has '--vary: sed is no option that takes a number or one of some words; did you mean '
expect 2 simulate fa-a2a --preset flux1 --vary seq
err_has "'seq' is not NAME=VALUES"
expect 2 simulate fa-a2a --preset flux1 --vary seq=1K --seq 2K
err_has '--seq is given, and varied by --vary'
expect 2 simulate fa-a2a --preset flux1 --vary seq=1K --vary seq=2K
err_has 'seq is varied twice'
expect 2 simulate fa-a2a --preset flux1 --vary method=st17
err_has 'did you mean st16?'
expect 2 simulate fa-a2a --preset flux1 --vary seq=1..1000 --vary heads=1..1000
err_has 'more than 100000 points'
expect 2 simulate fa-a2a --preset flux1 --vary seq=1K --svg x.svg
err_has '--trace and --svg show one simulation'
expect 2 simulate - --vary ranks=2,4
err_has 'name a file, not standard input'

# Calibration: rank 0 does it, or each in its turn.
expect 0 calibrate --machine "$sim" -o one -q
for launcher in torchrun openmpi; do
    rm -rf two
    job 0 $launcher 2 calibrate --machine "$sim" -o two -q
    out_has 'Profile: two/profile.json'
    others_silent
    for file in profile.json report.html samples.csv figures; do
        diff -r "one/$file" "two/$file" >/dev/null || fail "$launcher: $file differs from that of one process"
    done
done
job 0 openmpi 3 calibrate --each-rank --machine "$sim" -o each -q --json=each.json
out_has 'Rank 2, sim:'
others_silent
for r in 1 2; do
    cmp -s one/profile.json "each/rank-$r/profile.json" || fail "rank $r's profile differs from that of one process"
done
json each.json '[r["rank"] for r in d["ranks"]] == [0, 1, 2] and d["profile"]["id"] == d["ranks"][1]["profile"]["id"]'
job 2 openmpi 2 calibrate --each-rank --machine "$sim" -o each -q
err_has 'exists already'
others_silent
job 0 slurm 2 measure --machine "$sim" --producers 4 --bytes 16K --gap-us 0,5 --csv -q
[ "$(wc -l <out)" -eq 3 ] || fail "measure by two processes: $(wc -l <out) lines, wanted 3"
others_silent

# What rank 0 cannot do here, nobody does; the reason is said once.
code=0
"$xstage" bench fa-a2a --seq 64 -q >out 2>err || code=$?
if [ "$code" -eq 77 ]; then
    job 77 torchrun 2 bench fa-a2a --seq 64 -q
    one_sentence
    others_silent
fi

# Started differently, or not to be understood.
rm -f out.* err.* code.*
rank torchrun 0 2 simulate fa-a2a --preset flux1 --seed 1 -q &
rank torchrun 1 2 simulate fa-a2a --preset flux1 --seed 2 -q &
wait
grep -q 'arguments number 6 differ between ranks: rank 0 has "1", rank 1 "2"' err.0 || fail "rank 0 says $(cat err.0)"
[ ! -s err.1 ] || fail "rank 1 says $(cat err.1)"
[ "$(cat code.0 code.1 | tr '\n' ' ')" = '2 2 ' ] || fail "other arguments: exit $(cat code.0 code.1)"
code=0
RANK=1 "$xstage" simulate fa-a2a --preset flux1 >out 2>err || code=$?
[ "$code" -eq 2 ] || fail "RANK alone: exit $code"
err_has 'RANK is set and WORLD_SIZE is not'
err_has '--processes 1 makes this process stand alone'
RANK=1 "$xstage" simulate fa-a2a --preset flux1 --processes 1 -q >out 2>err || fail "--processes 1 does not help: $(cat err)"
out_has 'fa-a2a flux1'
expect 2 simulate fa-a2a --preset flux1 --rank 2 --processes 2
err_has 'rank 2 of 2 processes'
expect 2 simulate fa-a2a --preset flux1 --rank 0 --processes 2 --rendezvous nowhere
err_has 'is none of local:, file:DIR and tcp://HOST:PORT'
job 2 mpich 3 simulate fa-a2a --preset flux1 --profile no-such -q
err_has 'neither a file nor a stored profile'
others_silent

# Commands that take part in no job are not touched by a launcher.
RANK=1 WORLD_SIZE=2 "$xstage" predict -K 132 -B 32K -q >out 2>err || fail "predict as rank 1: $(cat err)"
[ -s out ] || fail "predict as rank 1 prints nothing"

OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 "$xstage" info >out 2>err || fail "info as rank 1: $(cat err)"
out_has 'job       process 1 of 4 by Open MPI'
PMI_SIZE=4 "$xstage" info --json >out 2>err || fail "info with half a pair: $(cat err)"
json out '"PMI_SIZE is set and PMI_RANK is not" in d["job"]["error"]'
expect 0 info --json
json out 'd["job"] is None'

# A process that never comes.
rm -f out.* err.* code.*
start=$(date +%s)
limit=2
rank torchrun 0 3 simulate fa-a2a --preset flux1 -q &
rank torchrun 2 3 simulate fa-a2a --preset flux1 -q &
wait
grep -q '1 of 3 processes did not come within 1.6 s: rank 1' err.0 || fail "rank 0 says $(cat err.0)"
[ ! -s err.2 ] || fail "rank 2 says $(cat err.2)"
[ "$(cat code.0 code.2 | tr '\n' ' ')" = '3 3 ' ] || fail "an absent rank: exit $(cat code.0 code.2)"
rank torchrun 1 2 simulate fa-a2a --preset flux1 -q
grep -q 'rank 1: rendezvous local:: rank 0 did not come within' err.1 || fail "rank 1 says $(cat err.1)"
[ $(($(date +%s) - start)) -lt 30 ] || fail "waiting for nobody took $(($(date +%s) - start)) s"

# all_met: waits until the socket in meet/ has come and gone, so that everybody is there.
all_met()
{
    tries=0
    while [ -z "$(ls meet)" ] && [ "$tries" -lt 40 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    while [ -n "$(ls meet)" ] && [ "$tries" -lt 600 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    sleep 0.3
}

# A process is killed while all of them work: whoever is left says so, and soon.
endless="--preset flux1 --seq 16K --jitter 0.05 --vary seed=1..90000 -q --rendezvous file:$scratch/meet"
for victim in 0 1; do
    rm -f out.* err.* code.* pid
    for r in 0 1 2; do
        if [ "$r" -eq "$victim" ]; then
            # shellcheck disable=SC2086
            env RANK="$r" WORLD_SIZE=3 MASTER_PORT="$$" "$xstage" simulate fa-a2a $endless >/dev/null 2>&1 &
            killed=$!
        else
            # shellcheck disable=SC2086
            (RANK=$r WORLD_SIZE=3 MASTER_PORT=$$ && export RANK WORLD_SIZE MASTER_PORT && code=0 &&
                { timeout 100 "$xstage" simulate fa-a2a $endless >"out.$r" 2>"err.$r" || code=$?; } && echo "$code" >"code.$r") &
        fi
    done
    all_met
    kill -9 "$killed"
    wait
    survivor=$((1 - victim))
    [ "$(cat "code.$survivor" code.2 | tr '\n' ' ')" = '3 3 ' ] ||
        fail "rank $victim was killed: exit $(cat "code.$survivor" code.2)"
    grep -q "rank $victim died" "err.$survivor" || fail "rank $survivor says $(cat "err.$survivor")"
    [ "$victim" -eq 0 ] || [ ! -s err.2 ] || fail "rank 2 speaks beside rank 0: $(cat err.2)"
done
for left in meet/* meet/.x*; do
    [ ! -e "$left" ] || fail "$left was left behind"
done

# Open MPI itself, where it is installed.
if command -v mpirun >/dev/null 2>&1; then
    as_root=
    [ "$(id -u)" -ne 0 ] || as_root=--allow-run-as-root
    mpi() { timeout 120 mpirun $as_root --oversubscribe "$@" </dev/null; }
    if mpi -n 2 true >mpi.log 2>&1; then
        # shellcheck disable=SC2086
        mpi -n 4 "$xstage" simulate fa-a2a $sweep --json --timeout 50 >out 2>err || fail "mpirun: $(cat err)"
        cmp -s out one.json || fail "mpirun: another document than that of one process"
        mpi -n 2 "$xstage" calibrate --machine "$sim" -o mpi -q >out 2>err || fail "mpirun calibrate: $(cat err)"
        [ "$(grep -c '^Machine: ' out)" -eq 1 ] || fail "mpirun calibrate prints $(grep -c '^Machine: ' out) times"
        cmp -s one/profile.json mpi/profile.json || fail "mpirun: another profile"
        code=0
        # shellcheck disable=SC2016 # the variable is Open MPI's
        mpi -n 3 sh -c '[ "$OMPI_COMM_WORLD_RANK" != 1 ] || kill -9 $$; exec "$@"' x "$xstage" simulate fa-a2a --preset flux1 -q \
            >out 2>err || code=$?
        [ "$code" -ne 0 ] || fail "mpirun: a killed rank and exit 0"
    else
        echo "mpirun does not run here: $(head -c 200 mpi.log)"
    fi
else
    echo "mpirun is not installed: its variables were tested, not itself"
fi

finish
