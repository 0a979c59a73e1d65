# SPDX-License-Identifier: Apache-2.0
"""The C interface as ctypes sees it: made from the headers by scripts/make_python_abi.py, not by hand."""
from ctypes import (
    POINTER, Structure, c_char, c_char_p, c_double, c_float, c_int, c_int16, c_int32, c_int64, c_size_t, c_ubyte,
    c_uint, c_uint16, c_uint32, c_uint64, c_void_p
)
from typing import Any

XST_OK = 0
XST_ERR_USAGE = -1
XST_ERR_PARSE = -2
XST_ERR_RANGE = -3
XST_ERR_SCHEMA = -4
XST_ERR_NO_DATA = -5
XST_ERR_EXISTS = -6
XST_ERR_IO = -7
XST_ERR_MEMORY = -8
XST_ERR_DEVICE = -9
XST_ERR_TIMEOUT = -10
XST_ERR_INTERRUPTED = -11
XST_ERR_UNAVAILABLE = -12
XST_DIAG_TEXT_BYTES = 1024
XST_MODE_ISOLATED = 0
XST_MODE_PERIODIC = 1
XST_MODE_ALIGNED = 2
XST_TARGET_PEER = 0
XST_TARGET_HOST = 1
XST_TARGET_LOCAL = 2
XST_METHOD_ST16 = 0
XST_METHOD_ST4 = 1
XST_METHOD_BULK = 2
XST_DIRECTION_ONE = 0
XST_DIRECTION_BOTH = 1
XST_FLOW_PAIR = 0
XST_FLOW_SPREAD = 1
XST_FLOW_INCAST = 2
XST_FLOW_ROTATION = 3
XST_BYSTANDER_OP_LOAD = 0
XST_BYSTANDER_OP_LOAD_L2 = 1
XST_BYSTANDER_OP_LOAD_L1 = 2
XST_BYSTANDER_OP_BULKLOAD4K = 3
XST_BYSTANDER_OP_BULKLOAD64K = 4
XST_BYSTANDER_OP_ATOMIC = 5
XST_BYSTANDER_OP_STORE_FENCE = 6
XST_FLOOR_SOURCE_PLATEAU = 0
XST_FLOOR_SOURCE_ISOLATED = 1
XST_FLOOR_SOURCE_ZERO_GAP = 2
XST_FLOOR_SOURCE_GIVEN = 3
XST_NAME_BYTES = 128
XST_ID_BYTES = 17
XST_PHASE_UNKNOWN = 0
XST_PHASE_ALIGNED = 1
XST_PHASE_SHIFTED = 2
XST_SCHEDULE_WAVE = 0
XST_SCHEDULE_INTERLEAVED = 1
XST_MOE_STEADY = 0
XST_MOE_STARTUP = 1
XST_MOE_TAIL = 2
XST_VERDICT_UNKNOWN = 0
XST_VERDICT_PIGGYBACK = 1
XST_VERDICT_RESHAPE = 2
XST_ANSWER_UNKNOWN = 0
XST_ANSWER_NO = 1
XST_ANSWER_YES = 2
XST_CHANGE_BYTES = 0
XST_CHANGE_METHOD = 1
XST_CHANGE_PHASE = 2
XST_CHANGE_PRODUCERS = 3
XST_CHANGE_GAP = 4
XST_CHANGE_SCHEDULE = 5
XST_CHANGE_SLICES = 6
XST_MOST_ACTIONS = 10
XST_AUDIT_TEXT_BYTES = 320
XST_AUDIT_TRAFFIC = 0
XST_AUDIT_FA_A2A = 1
XST_AUDIT_MOE = 2
XST_TRACE_IDLE = 0
XST_TRACE_LOAD = 1
XST_TRACE_MATH = 2
XST_TRACE_SLOT = 3
XST_TRACE_STAGE = 4
XST_TRACE_ISSUE = 5
XST_TRACE_RELEASE = 6
XST_TRACE_FENCE = 7
XST_TRACE_PEER = 8
XST_TRACE_HEAD = 9
XST_TRACE_PULL = 10
XST_TRACE_ACT = 11
XST_TRACE_COMBINE = 12
XST_TRACE_ROLE_LOAD = 0
XST_TRACE_ROLE_MATH = 1
XST_TRACE_ROLE_STORE = 2
XST_TRACE_NO_TILE = -1
XST_TRACE_MOST_FACTS = 32
XST_TRACE_MOST_CALLS = 16
XST_TRACE_CHECK_EQUAL = 0
XST_TRACE_CHECK_LEAST = 1
XST_TRACE_CHECK_MODEL = 2
XST_TRACE_CHECK_tiles = 0
XST_TRACE_CHECK_producers = 1
XST_TRACE_CHECK_tiles_out_of_walk = 2
XST_TRACE_CHECK_remote_bytes = 3
XST_TRACE_CHECK_tiles_with_other_bytes = 4
XST_TRACE_CHECK_first_burst_bytes = 5
XST_TRACE_CHECK_bytes_before_last_tile = 6
XST_TRACE_CHECK_gap_us = 7
XST_TRACE_CHECK_issue_first_us = 8
XST_TRACE_CHECK_issue_later_us = 9
XST_TRACE_CHECK_late_us = 10
XST_TRACE_CHECK_gap_l1_us = 11
XST_TRACE_CHECK_between_us = 12
XST_TRACE_CHECK_stall_us = 13
XST_TRACE_CHECK_starved_us = 14
XST_TRACE_CHECK_backlog_bytes = 15
XST_TRACE_CHECK_COUNT = 16
XST_TRACE_MOST_CHECKS = 2048
XST_MOVED_SAME = 0
XST_MOVED_BETTER = 1
XST_MOVED_WORSE = 2
XST_MOVED_REMOVED = 3
XST_MOVED_ADDED = 4
XST_MOVED_COUNT = 5
XST_BENCH_KEY_BYTES = 320
XST_FA_A2A_VARIANT_FA_ONLY = 0
XST_FA_A2A_VARIANT_A2A_ONLY = 1
XST_FA_A2A_VARIANT_SERIAL = 2
XST_FA_A2A_VARIANT_ST16 = 3
XST_FA_A2A_VARIANT_BULK = 4
XST_FA_A2A_VARIANT_PACED = 5
XST_FA_A2A_VARIANT_COUNT = 6
XST_FA_A2A_MOST_RANKS = 72
XST_FA_A2A_STORE_ST16 = 0
XST_FA_A2A_STORE_BULK = 1
XST_FA_A2A_STORE_PACED = 2
XST_ROW_DRAIN = 1
XST_ROW_FLOOR = 2
XST_ROW_CAPACITY = 4
XST_ROW_LOOP = 8
XST_ROW_FENCE = 16
XST_ROW_RELEASE_FLOOR = 32
XST_ROW_RELEASE_CAPACITY = 64
XST_ROW_DISPERSION = 128
XST_EXCLUDE_NONE = 0
XST_EXCLUDE_HELD_OUT = 1
XST_EXCLUDE_NOT_SATURATED = 2
XST_EXCLUDE_NO_STALL = 3
XST_EXCLUDE_BEYOND_KNEE = 4
XST_EXCLUDE_PARTIAL_STALL = 5
XST_EXCLUDE_NO_DRAIN = 6
XST_EXCLUDE_ALIGNED = 7
XST_EXCLUDE_FLOW = 8
XST_QUANTITY_PERIOD = 0
XST_QUANTITY_ISSUE = 1
XST_QUANTITY_ISOLATED_ISSUE = 2
XST_QUANTITY_ISOLATED_FLOOR = 3
XST_QUANTITY_RELEASE = 4
XST_MODEL_LAW = 0
XST_MODEL_LAW_ALIGNED = 1
XST_MODEL_COMPLETION_COUPLED = 2
XST_MODEL_FLUID = 3
XST_ROWS_FREE = 0
XST_ROWS_ZERO_GAP = 1
XST_ROWS_ALIGNED = 2
XST_ROWS_ISOLATED = 3
XST_GPU_TEXT_BYTES = 128
XST_GPU_MOST_LINKS = 18
XST_GROUP_TEXT_BYTES = 256
XST_GROUP_MOST_RANKS = 1024
XST_GROUP_MOST_BYTES = 268435456
XST_PROBE_BURST = 0
XST_PROBE_BYSTANDER = 1
XST_PROBE_LOOP = 2
XST_REASON_NONE = 0
XST_REASON_NO_DRAIN = 1
XST_REASON_NO_FLOOR = 2
XST_REASON_NO_CAPACITY = 3
XST_TIMING_DRAIN = 1
XST_TIMING_FLOOR = 2
XST_TIMING_CAPACITY = 4
XST_TIMING_RELEASE = 8
XST_TIMING_RELEASE_CAPACITY = 16
XST_MOE_MOST_RANKS = 8
XST_MOE_MOST_TOPK = 16
XST_MOE_MOST_LOCAL_EXPERTS = 512
XST_MOE_STORE_AT_ONCE = 0
XST_MOE_STORE_PACED = 1
XST_MOE_DEDUP_AUTO = 0
XST_MOE_DEDUP_ON = 1
XST_MOE_DEDUP_OFF = 2
XST_MOE_BF16 = 0
XST_MOE_E4M3 = 1
XST_PLAN_FA_A2A = 0
XST_PLAN_MOE = 1
XST_PLAN_TRAFFIC = 2
XST_TILE_ORDER_PEERS_FIRST = 0
XST_TILE_ORDER_ROWS = 1
XST_PLAN_IN_FA = 1
XST_PLAN_IN_MOE = 2
XST_PLAN_IN_TRAFFIC = 4
XST_PLAN_IN_ALL = 7
XST_PLAN_REASON_BYTES = 256
XST_PLAN_TEXT_BYTES = 400
XST_PLAN_MOST_TILE_ROWS = 8
XST_MOE_GAP_NONE = 0
XST_MOE_GAP_DRAIN = 1
XST_MOE_GAP_FLOOR = 2
XST_MOE_GAP_CAPACITY = 3
XST_MOE_GAP_FENCE = 4
XST_MOE_MOST_CANDIDATES = 72
XST_ROUTING_UNIFORM = 0
XST_ROUTING_ZIPF = 1
XST_ROUTING_HOT_EXPERT = 2
XST_ROUTING_HOT_RANK = 3
XST_PLAN_MOST_STEPS = 16
XST_MOE_FORM_FUSED = 0
XST_MOE_FORM_UNFUSED = 1
XST_MOE_FORM_ALONE = 2
XST_MOE_BENCH_MOST_ENTRIES = 48
XST_SIM_STEADY = 1
XST_SIM_QUIET = 2
XST_SIM_FENCE = 4
XST_SIM_RELEASE = 8
XST_COUPLING_ISSUE = 0
XST_COUPLING_COMPLETION = 1
XST_ISSUER_OWN = 0
XST_ISSUER_ROLE = 1
XST_FLOOR_POINTS = 64
XST_TIMELINE_PARTS = 4
XST_TIMELINE_KINDS = 4
XST_SPAN_MATH = 0
XST_SPAN_STORE = 1
XST_SPAN_PULL = 2
XST_SPAN_WORK = 0
XST_SPAN_WAIT = 1
XST_SPAN_SLOT = 2
XST_SPAN_ISSUE = 3
XST_SPAN_TRANSFER = 4


class xst_diag(Structure):
    _fields_ = [
        ("status", c_int), ("line", c_int64), ("text", c_char * 1024)
    ]


class xst_sample(Structure):
    _fields_ = [
        ("mode", c_int), ("target", c_int), ("direction", c_int), ("method", c_int), ("threads", c_int64),
        ("producers", c_int64), ("bytes_per_producer", c_int64), ("piece_bytes", c_int64), ("pitch_bytes", c_int64),
        ("gap_us", c_double), ("bursts", c_int64), ("reps", c_int64), ("issue_mean_us", c_double),
        ("issue_max_us", c_double), ("release_mean_us", c_double), ("period_mean_us", c_double),
        ("fenced_max_us", c_double), ("total_us", c_double), ("flow", c_int), ("senders", c_int64), ("sender", c_int64),
        ("receiver", c_int64), ("source", c_int64), ("line", c_int64)
    ]


class xst_bystander_sample(Structure):
    _fields_ = [
        ("target", c_int), ("direction", c_int), ("method", c_int), ("producers", c_int64), ("bytes", c_int64),
        ("op", c_int), ("delay_us", c_double), ("issue_us", c_double), ("op_us_mean", c_double),
        ("op_us_max", c_double), ("source", c_int64), ("line", c_int64)
    ]


class xst_loop_sample(Structure):
    _fields_ = [
        ("target", c_int), ("direction", c_int), ("method", c_int), ("senders", c_int64), ("bytes", c_int64),
        ("slices", c_int64), ("slice_every_us", c_double), ("load_bytes", c_int64), ("span_us", c_double),
        ("sender_mean_us", c_double), ("sender_max_us", c_double), ("sender_loads", c_double),
        ("other_mean_us", c_double), ("other_max_us", c_double), ("other_loads", c_double), ("source", c_int64),
        ("line", c_int64)
    ]


class xst_producer_sample(Structure):
    _fields_ = [
        ("target", c_int), ("direction", c_int), ("method", c_int), ("producers", c_int64),
        ("bytes_per_producer", c_int64), ("bursts", c_int64), ("producer", c_int64), ("sm_id", c_int64),
        ("issue_mean_us", c_double), ("own_total_us", c_double), ("fenced_total_us", c_double), ("source", c_int64),
        ("line", c_int64)
    ]


class xst_samples(Structure):
    _fields_ = [
        ("rows", POINTER(xst_sample)), ("row_count", c_size_t), ("bystanders", POINTER(xst_bystander_sample)),
        ("bystander_count", c_size_t), ("loops", POINTER(xst_loop_sample)), ("loop_count", c_size_t),
        ("producers", POINTER(xst_producer_sample)), ("producer_count", c_size_t), ("sources", POINTER(c_void_p)),
        ("source_count", c_size_t)
    ]


class xst_measure(Structure):
    _fields_ = [
        ("value", c_double), ("low", c_double), ("high", c_double), ("n", c_int64), ("known", c_int32)
    ]


class xst_floor_point(Structure):
    _fields_ = [
        ("producers", c_int64), ("bytes_per_producer", c_int64), ("us", c_double), ("source", c_int)
    ]


class xst_capacity_point(Structure):
    _fields_ = [
        ("producers", c_int64), ("bytes", c_double), ("low", c_double), ("high", c_double), ("n", c_int64)
    ]


class xst_drain_point(Structure):
    _fields_ = [
        ("producers", c_int64), ("bytes_per_us", c_double), ("n", c_int64)
    ]


class xst_floor_table(Structure):
    _fields_ = [
        ("points", POINTER(xst_floor_point)), ("count", c_size_t)
    ]


class xst_capacity_table(Structure):
    _fields_ = [
        ("points", POINTER(xst_capacity_point)), ("count", c_size_t)
    ]


class xst_drain_table(Structure):
    _fields_ = [
        ("points", POINTER(xst_drain_point)), ("count", c_size_t)
    ]


class xst_valid(Structure):
    _fields_ = [
        ("producers_low", c_int64), ("producers_high", c_int64), ("bytes_low", c_int64), ("bytes_high", c_int64)
    ]


class xst_path(Structure):
    _fields_ = [
        ("target", c_int), ("direction", c_int), ("method", c_int), ("threads", c_int64), ("piece_bytes", c_int64),
        ("pitch_bytes", c_int64), ("drain_bytes_per_us", xst_measure), ("loop_us", xst_measure),
        ("fence_us", xst_measure), ("issue_floor", xst_floor_table), ("capacity", xst_capacity_table),
        ("release_floor", xst_floor_table), ("release_capacity", xst_capacity_table),
        ("drain_by_producers", xst_drain_table), ("capacity_per_producer_bytes", xst_measure),
        ("capacity_total_bytes", xst_measure), ("capacity_form_max_rel_err", xst_measure),
        ("free_capacity_bytes", xst_measure), ("groups", xst_measure), ("share_spread_burst", xst_measure),
        ("share_spread", xst_measure), ("record_bytes", xst_measure), ("turn_us", xst_measure), ("valid", xst_valid),
        ("rows_used", c_int64), ("rows_excluded", c_int64), ("residual_drain", xst_measure),
        ("residual_floor", xst_measure), ("residual_capacity", xst_measure)
    ]


class xst_machine_facts(Structure):
    _fields_ = [
        ("machine", c_char * 128), ("device", c_char * 128), ("driver", c_char * 128), ("cuda", c_char * 128),
        ("date", c_char * 128), ("origin", c_char * 128), ("note", c_char * 256), ("sm_count", xst_measure),
        ("sm_clock_ghz", xst_measure), ("l2_bytes", xst_measure), ("memory_gib", xst_measure),
        ("links_per_gpu", xst_measure), ("link_gb_per_s", xst_measure), ("peak_bf16_tflops", xst_measure)
    ]


class xst_profile(Structure):
    _fields_ = [
        ("id", c_char * 17), ("name", c_char * 128), ("machine", xst_machine_facts), ("paths", POINTER(xst_path)),
        ("path_count", c_size_t)
    ]


class xst_path_key(Structure):
    _fields_ = [
        ("target", c_int), ("direction", c_int), ("method", c_int), ("threads", c_int64), ("piece_bytes", c_int64),
        ("pitch_bytes", c_int64)
    ]


class xst_traffic(Structure):
    _fields_ = [
        ("kernel", c_char * 128), ("path", xst_path_key), ("producers", c_int64), ("bytes_per_producer", c_double),
        ("remote_frac", c_double), ("burst_remote_frac", c_double), ("gap_us", c_double), ("phase", c_int),
        ("staging_slots", c_int64), ("prefetch_us", c_double), ("bursts_per_producer", c_double)
    ]


class xst_fa_a2a_shape(Structure):
    _fields_ = [
        ("batch", c_int64), ("heads", c_int64), ("head_dim", c_int64), ("seq", c_int64), ("ranks", c_int64),
        ("element_bytes", c_int64)
    ]


class xst_fa_a2a_plan(Structure):
    _fields_ = [
        ("tile_rows", c_int64), ("tile_cols", c_int64), ("producers", c_int64), ("stages", c_int64),
        ("staging_slots", c_int64), ("method", c_int), ("phase", c_int), ("sm_flop_per_us", c_double), ("target", c_int)
    ]


class xst_fa_a2a_counts(Structure):
    _fields_ = [
        ("heads_per_rank", c_int64), ("row_tiles", c_int64), ("tiles", c_int64), ("producers", c_int64),
        ("waves", c_int64), ("kv_blocks", c_int64), ("tile_bytes", c_double), ("remote_bytes", c_double),
        ("kv_us", c_double), ("tile_us", c_double)
    ]


class xst_fa_a2a_tile(Structure):
    _fields_ = [
        ("destination", c_int64), ("batch", c_int64), ("head", c_int64), ("first_row", c_int64), ("rows", c_int64),
        ("remote_rows", c_int64)
    ]


class xst_moe_shape(Structure):
    _fields_ = [
        ("hidden", c_int64), ("inter", c_int64), ("experts", c_int64), ("topk", c_int64), ("tokens", c_int64),
        ("ranks", c_int64), ("element_bytes", c_int64)
    ]


class xst_moe_plan(Structure):
    _fields_ = [
        ("tile_rows", c_int64), ("tile_cols", c_int64), ("tile_depth", c_int64), ("producers", c_int64),
        ("stages", c_int64), ("staging_slots", c_int64), ("method", c_int), ("schedule", c_int), ("act_frac", c_double),
        ("sm_flop_per_us", c_double)
    ]


class xst_moe_counts(Structure):
    _fields_ = [
        ("rows", c_int64), ("local_experts", c_int64), ("rows_per_expert", c_int64), ("blocks_per_expert", c_int64),
        ("blocks", c_int64), ("fetched_rows", c_double), ("l1_per_block", c_int64), ("l2_per_block", c_int64),
        ("wave_experts", c_int64), ("producers", c_int64), ("rho", c_double), ("tile_bytes", c_double),
        ("l1_us", c_double), ("l2_us", c_double), ("act_us", c_double)
    ]


class xst_moe_tile(Structure):
    _fields_ = [
        ("linear", c_int), ("part", c_int), ("expert", c_int64), ("block", c_int64), ("column", c_int64),
        ("rows", c_int64)
    ]


class xst_moe_cursor(Structure):
    _fields_ = [
        ("expert", c_int64), ("in_expert", c_int64), ("block", c_int64), ("column", c_int64), ("taken", c_int64)
    ]


class xst_moe_walk(Structure):
    _fields_ = [
        ("rows", POINTER(c_int64)), ("experts", c_int64), ("tile_rows", c_int64), ("l1_per_block", c_int64),
        ("l2_per_block", c_int64), ("producers", c_int64), ("lead", c_int64), ("group", c_int64), ("unit", c_int64),
        ("wave_most", c_int64), ("blocks", c_int64), ("wave_end", c_int64), ("interleaved", c_int),
        ("l1", xst_moe_cursor), ("l2", xst_moe_cursor)
    ]


class xst_number(Structure):
    _fields_ = [
        ("value", c_double), ("known", c_int32), ("extrapolated", c_int32)
    ]


class xst_bound(Structure):
    _fields_ = [
        ("holds", c_int), ("margin_bytes", xst_number)
    ]


class xst_audit_case(Structure):
    _fields_ = [
        ("verdict", c_int), ("issue_us", xst_number), ("period_us", xst_number), ("release_us", xst_number)
    ]


class xst_audit_numbers(Structure):
    _fields_ = [
        ("producers", xst_number), ("bytes_per_producer", xst_number), ("burst_bytes", xst_number),
        ("remote_bytes", xst_number), ("largest_burst_bytes", xst_number), ("gap_us", xst_number),
        ("drain_bytes_per_us", xst_number), ("drain_us", xst_number), ("issue_floor_us", xst_number),
        ("recovery_gap_us", xst_number), ("recovery_gap_remote_us", xst_number), ("issue_us", xst_number),
        ("issue_peak_us", xst_number), ("issue_aligned_us", xst_number), ("isolated_issue_us", xst_number),
        ("period_us", xst_number), ("completion_coupled_period_us", xst_number), ("backlog_bytes", xst_number),
        ("capacity_bytes", xst_number), ("release_floor_us", xst_number), ("release_us", xst_number),
        ("release_aligned_us", xst_number), ("release_budget_us", xst_number), ("free_capacity_bytes", xst_number),
        ("bystander_delay_us", xst_number), ("prefetch_us", xst_number), ("given_tflops", xst_number),
        ("gap_given_us", xst_number), ("margin_rate_given_bytes", xst_number)
    ]


class xst_action(Structure):
    _fields_ = [
        ("what", c_int), ("numeric", c_int), ("from", c_double), ("to", c_double), ("from_word", c_char * 16),
        ("to_word", c_char * 16), ("predicted_issue_us", xst_number), ("predicted_release_us", xst_number),
        ("issue_per_tile_us", xst_number), ("text", c_char * 240)
    ]


class xst_audit_fa(Structure):
    _fields_ = [
        ("tiles", xst_number), ("waves", xst_number), ("last_wave_tiles", xst_number), ("kv_blocks", xst_number),
        ("t_kv_min_us", xst_number), ("m_upper_bound", xst_number), ("m_upper_bound_remote", xst_number),
        ("compute_us", xst_number), ("exposed_issue_us", xst_number), ("tail_us", xst_number),
        ("exposed_us", xst_number)
    ]


class xst_audit_moe(Structure):
    _fields_ = [
        ("rows", xst_number), ("blocks", xst_number), ("l1_tiles", xst_number), ("l2_tiles", xst_number),
        ("l1_per_block", xst_number), ("l2_per_block", xst_number), ("rho", xst_number), ("t_l1_us", xst_number),
        ("t_l2_us", xst_number), ("t_act_us", xst_number), ("gap_wave_us", xst_number),
        ("gap_interleaved_us", xst_number), ("lead_first_tiles", xst_number), ("lead_knee_tiles", xst_number),
        ("lead_startup_tiles", xst_number), ("lead_tail_tiles", xst_number), ("lead_working_set_bytes", xst_number),
        ("lead_tiles", xst_number), ("lead_stall_us", xst_number), ("lead_starved_tiles", xst_number),
        ("recommended", c_int), ("recommended_known", c_int)
    ]


class xst_audit_schedule(Structure):
    _fields_ = [
        ("schedule", c_int), ("verdict", c_int), ("gap_us", xst_number), ("rate", xst_bound), ("capacity", xst_bound),
        ("aligned", xst_audit_case), ("drifting", xst_audit_case)
    ]


class xst_audit(Structure):
    _fields_ = [
        ("kind", c_int), ("name", c_char * 128), ("profile_id", c_char * 17), ("profile_name", c_char * 128),
        ("traffic", xst_traffic), ("fa_shape", xst_fa_a2a_shape), ("fa_plan", xst_fa_a2a_plan),
        ("moe_shape", xst_moe_shape), ("moe_plan", xst_moe_plan), ("verdict", c_int), ("rate", xst_bound),
        ("capacity", xst_bound), ("staging", xst_bound), ("bystander_holds", c_int), ("aligned", xst_audit_case),
        ("drifting", xst_audit_case), ("numbers", xst_audit_numbers), ("fa", xst_audit_fa), ("moe", xst_audit_moe),
        ("schedules", xst_audit_schedule * 2), ("actions", xst_action * 10), ("action_count", c_size_t),
        ("extrapolated", c_int), ("sentence", c_char * 320), ("reason", c_char * 320), ("note", c_char * 320)
    ]


class xst_audit_options(Structure):
    _fields_ = [
        ("extrapolate", c_int), ("peak_tflops", c_double), ("given_tflops", c_double), ("lead", c_int64)
    ]


class xst_lead_problem(Structure):
    _fields_ = [
        ("blocks", c_int64), ("l1_per_block", c_int64), ("l2_per_block", c_int64), ("producers", c_int64),
        ("l1_us", c_double), ("l2_us", c_double), ("act_us", c_double)
    ]


class xst_lead_waits(Structure):
    _fields_ = [
        ("steady_tiles", c_int64), ("steady_starved", c_int64), ("startup_starved", c_int64), ("tail_starved", c_int64),
        ("wait_us", c_double), ("makespan_us", c_double)
    ]


class xst_lead_knees(Structure):
    _fields_ = [
        ("steady", c_int64), ("startup", c_int64), ("tail", c_int64)
    ]


class xst_trace_span(Structure):
    _fields_ = [
        ("call", c_int32), ("rank", c_int32), ("sm", c_int32), ("cta", c_int32), ("unit", c_int32), ("role", c_int),
        ("what", c_int), ("tile", c_int64), ("start_us", c_double), ("end_us", c_double), ("bytes", c_double),
        ("stall_us", c_double)
    ]


class xst_trace_fact(Structure):
    _fields_ = [
        ("name", c_char * 24), ("value", c_int64)
    ]


class xst_trace_call(Structure):
    _fields_ = [
        ("variant", c_char * 24), ("lost", c_int64), ("ranks", c_int64), ("duration_us", c_double)
    ]


class xst_trace(Structure):
    _fields_ = [
        ("kernel", c_char * 24), ("fact_count", c_int64), ("facts", xst_trace_fact * 32), ("call_count", c_int64),
        ("calls", xst_trace_call * 16), ("spans", POINTER(xst_trace_span)), ("span_count", c_size_t),
        ("span_room", c_size_t)
    ]


class xst_trace_times(Structure):
    _fields_ = [
        ("parts", c_int64), ("issues", c_int64), ("math_us", c_double), ("stall_us", c_double), ("issue_us", c_double),
        ("bytes", c_double)
    ]


class xst_trace_check(Structure):
    _fields_ = [
        ("call", c_int64), ("rank", c_int64), ("name", c_int), ("promised", xst_number), ("observed", xst_number),
        ("holds", c_int)
    ]


class xst_compare_options(Structure):
    _fields_ = [
        ("noise_drain_frac", c_double), ("noise_floor_frac", c_double), ("noise_capacity_frac", c_double)
    ]


class xst_comparison_row(Structure):
    _fields_ = [
        ("path", xst_path_key), ("parameter", c_char_p), ("producers", c_int64), ("bytes_per_producer", c_int64),
        ("before_known", c_int32), ("after_known", c_int32), ("before", c_double), ("after", c_double),
        ("change_frac", c_double), ("noise_frac", c_double), ("moved", c_int)
    ]


class xst_comparison(Structure):
    _fields_ = [
        ("rows", POINTER(xst_comparison_row)), ("row_count", c_size_t), ("worse", c_int64), ("better", c_int64),
        ("same", c_int64), ("removed", c_int64), ("added", c_int64), ("same_machine", c_int32)
    ]


class xst_bench_comparison_row(Structure):
    _fields_ = [
        ("key", c_char * 320), ("before_known", c_int32), ("after_known", c_int32), ("before_us", c_double),
        ("after_us", c_double), ("change_frac", c_double), ("noise_frac", c_double), ("moved", c_int)
    ]


class xst_bench_comparison(Structure):
    _fields_ = [
        ("rows", POINTER(xst_bench_comparison_row)), ("row_count", c_size_t), ("kernel", c_char * 64 * 2),
        ("machine", c_char * 128 * 2), ("moved", c_int64 * 5)
    ]


class xst_rate(Structure):
    _fields_ = [
        ("name", c_char * 128), ("target", c_int), ("bytes_per_us", c_double)
    ]


class xst_fa_a2a_bench(Structure):
    _fields_ = [
        ("batch", c_int64), ("heads_total", c_int64), ("head_dim", c_int64), ("seq", c_int64), ("ranks", c_int64),
        ("target", c_int), ("groups", c_int64), ("pairs", c_int64), ("slices", c_int64), ("rounds", c_int64),
        ("calls", c_int64), ("seed", c_uint64), ("drain_bytes_per_us", c_double)
    ]


class xst_fa_a2a_bench_row(Structure):
    _fields_ = [
        ("variant", c_int), ("groups", c_int64), ("pairs", c_int64), ("calls", c_int64), ("median_us", c_double),
        ("min_us", c_double), ("max_us", c_double), ("sender_us", c_double), ("visible_us", c_double),
        ("tflops", c_double), ("drain_bytes_per_us", c_double), ("residual_us", c_double), ("residual_frac", c_double),
        ("hiding_ratio", c_double), ("speedup", c_double)
    ]


class xst_fa_a2a_tensor(Structure):
    _fields_ = [
        ("address", c_uint64), ("batch_stride", c_int64), ("row_stride", c_int64), ("head_stride", c_int64)
    ]


class xst_fa_a2a_call(Structure):
    _fields_ = [
        ("batch", c_int64), ("seq", c_int64), ("key_len", c_int64), ("key_lens", c_uint64), ("heads", c_int64),
        ("heads_total", c_int64), ("head_first", c_int64), ("head_dim", c_int64), ("rank", c_int64), ("ranks", c_int64),
        ("row_first", POINTER(c_int64)), ("scale", c_double), ("q", xst_fa_a2a_tensor), ("k", xst_fa_a2a_tensor),
        ("v", xst_fa_a2a_tensor), ("out", POINTER(c_uint64)), ("out_flip_bytes", c_uint64), ("lse", c_uint64),
        ("control", POINTER(c_uint64)), ("epoch", c_uint64)
    ]


class xst_fa_a2a_choice(Structure):
    _fields_ = [
        ("groups", c_int64), ("store", c_int), ("slices", c_int64), ("ctas", c_int64), ("pairs", c_int64),
        ("drain_bytes_per_us", c_double), ("delay_ns", c_int64)
    ]


class xst_outlier(Structure):
    _fields_ = [
        ("row", c_size_t), ("quantity", c_char_p), ("value", c_double), ("expected", c_double)
    ]


class xst_fit(Structure):
    _fields_ = [
        ("used", POINTER(c_uint)), ("exclude", POINTER(c_int)), ("path", POINTER(c_int)), ("row_count", c_size_t),
        ("outliers", POINTER(xst_outlier)), ("outlier_count", c_size_t), ("parameter_count", c_int64)
    ]


class xst_fit_options(Structure):
    _fields_ = [
        ("facts", POINTER(xst_machine_facts)), ("name", c_char_p)
    ]


class xst_validation_row(Structure):
    _fields_ = [
        ("path", xst_path_key), ("quantity", c_int), ("model", c_int), ("rows", c_int), ("held_out", c_int),
        ("n", c_int64), ("median_abs_rel_err", c_double), ("p90_abs_rel_err", c_double), ("max_abs_rel_err", c_double),
        ("bias", c_double), ("median_abs_err_us", c_double)
    ]


class xst_validation(Structure):
    _fields_ = [
        ("rows", POINTER(xst_validation_row)), ("row_count", c_size_t), ("unmatched_rows", c_int64)
    ]


class xst_row_predictor(Structure):
    _fields_ = [
        ("model", c_int), ("predict", c_void_p), ("context", c_void_p)
    ]


class xst_row_prediction(Structure):
    _fields_ = [
        ("known", c_int), ("total_us", c_double), ("issue_us", c_double), ("release_us", c_double)
    ]


class xst_gpu_device(Structure):
    _fields_ = [
        ("ordinal", c_int64), ("name", c_char * 128), ("uuid", c_char * 128), ("pci", c_char * 128),
        ("compute_major", c_int64), ("compute_minor", c_int64), ("sm_count", c_int64), ("memory_bytes", c_int64),
        ("l2_bytes", c_int64), ("shared_bytes_block", c_int64), ("links", c_int64), ("link_gb_per_s", c_double),
        ("pcie_generation", c_int64), ("pcie_width", c_int64), ("sm_clock_ghz", c_double),
        ("sm_clock_max_ghz", c_double), ("memory_clock_ghz", c_double), ("power_w", c_double),
        ("temperature_c", c_double), ("throttle", c_char * 128)
    ]


class xst_gpu_pair(Structure):
    _fields_ = [
        ("from", c_int64), ("to", c_int64), ("store_path", c_int32), ("native_atomics", c_int32), ("rank", c_int32)
    ]


class xst_gpu_info(Structure):
    _fields_ = [
        ("driver", c_char * 128), ("cuda_major", c_int64), ("cuda_minor", c_int64), ("nvcc", c_char * 128),
        ("devices", POINTER(xst_gpu_device)), ("device_count", c_size_t), ("pairs", POINTER(xst_gpu_pair)),
        ("pair_count", c_size_t)
    ]


class xst_group(Structure):
    _fields_ = [
        ("rank", c_int64), ("ranks", c_int64), ("gather", c_void_p), ("context", c_void_p)
    ]


class xst_ranks(Structure):
    _fields_ = [
        ("rank", c_int64), ("ranks", c_int64), ("local_rank", c_int64), ("launcher", c_char * 32),
        ("rendezvous", c_char * 256), ("job", c_char * 256)
    ]


class xst_ranks_asked(Structure):
    _fields_ = [
        ("rank", c_int64), ("ranks", c_int64), ("rendezvous", c_char_p)
    ]


class xst_rendezvous_options(Structure):
    _fields_ = [
        ("where", c_char_p), ("job", c_char_p), ("rank", c_int64), ("ranks", c_int64), ("join_seconds", c_double),
        ("gather_seconds", c_double), ("told_out", POINTER(c_int))
    ]


class xst_measure_request(Structure):
    _fields_ = [
        ("probe", c_int), ("mode", c_int), ("target", c_int), ("direction", c_int), ("method", c_int),
        ("threads", c_int64), ("producers", c_int64), ("bytes_per_producer", c_int64), ("piece_bytes", c_int64),
        ("pitch_bytes", c_int64), ("gap_us", c_double), ("period_us", c_double), ("bursts", c_int64), ("reps", c_int64),
        ("flow", c_int), ("senders", c_int64), ("sender", c_int64), ("receiver", c_int64), ("op", c_int),
        ("delay_us", c_double), ("slices", c_int64), ("slice_every_us", c_double), ("load_bytes", c_int64),
        ("load_span_bytes", c_int64), ("span_us", c_double)
    ]


class xst_measure_options(Structure):
    _fields_ = [
        ("precision", c_double), ("timeout_us", c_double), ("per_producer", c_int), ("verify", c_int)
    ]


class xst_measure_extras(Structure):
    _fields_ = [
        ("reps", c_int64), ("precision", c_double), ("precise", c_int), ("sm_clock_ghz", c_double),
        ("verified_bytes", c_double), ("throttle", c_char * 128)
    ]


class xst_measure_row(Structure):
    _fields_ = [
        ("request", POINTER(xst_measure_request)), ("index", c_size_t), ("count", c_size_t), ("seconds_left", c_double),
        ("sample", POINTER(xst_sample)), ("bystander", POINTER(xst_bystander_sample)),
        ("loop", POINTER(xst_loop_sample)), ("producers", POINTER(xst_producer_sample)), ("producer_count", c_size_t),
        ("extras", xst_measure_extras)
    ]


class xst_measure_sink(Structure):
    _fields_ = [
        ("user", c_void_p), ("row", c_void_p), ("stop", c_void_p)
    ]


class xst_burst(Structure):
    _fields_ = [
        ("producers", c_double), ("bytes_per_producer", c_double), ("gap_us", c_double)
    ]


class xst_timing(Structure):
    _fields_ = [
        ("producers", c_double), ("bytes_per_producer", c_double), ("gap_us", c_double), ("burst_bytes", c_double),
        ("drain_us", c_double), ("issue_floor_us", c_double), ("issue_us", c_double), ("issue_aligned_us", c_double),
        ("overhead_us", c_double), ("period_us", c_double), ("period_aligned_us", c_double),
        ("recovery_gap_us", c_double), ("isolated_issue_us", c_double), ("backlog_bytes", c_double),
        ("capacity_bytes", c_double), ("margin_rate_bytes", c_double), ("margin_capacity_bytes", c_double),
        ("release_floor_us", c_double), ("release_us", c_double), ("release_isolated_us", c_double),
        ("completion_coupled_period_us", c_double), ("ideal_period_us", c_double), ("loggp_period_us", c_double),
        ("known", c_uint32), ("extrapolated", c_uint32), ("reason", c_int)
    ]


class xst_stage(Structure):
    _fields_ = [
        ("floor_us", c_double), ("drain_bytes_per_us", c_double), ("capacity_bytes", c_double),
        ("burst_bytes", c_double)
    ]


class xst_step(Structure):
    _fields_ = [
        ("issue_us", c_double), ("backlog_after_issue_bytes", c_double), ("backlog_after_gap_bytes", c_double)
    ]


class xst_moe_layer(Structure):
    _fields_ = [
        ("hidden", c_int64), ("inter", c_int64), ("experts", c_int64), ("topk", c_int64), ("tokens_most", c_int64),
        ("ranks", c_int64), ("ctas", c_int64), ("dtype", c_int), ("ring", c_int64)
    ]


class xst_moe_layout(Structure):
    _fields_ = [
        ("bytes", c_uint64), ("x", c_uint64), ("ids", c_uint64), ("weights", c_uint64), ("combine", c_uint64),
        ("control", c_uint64), ("x_scales", c_uint64)
    ]


class xst_moe_call(Structure):
    _fields_ = [
        ("layer", xst_moe_layer), ("rank", c_int64), ("tokens", c_int64), ("clamp", c_double), ("w1", c_uint64),
        ("w2", c_uint64), ("y", c_uint64), ("buffers", POINTER(c_uint64)), ("combine", POINTER(c_uint64)),
        ("limit_us", c_double), ("w1_scales", c_uint64), ("w2_scales", c_uint64)
    ]


class xst_moe_tokens(Structure):
    _fields_ = [
        ("x", c_uint64), ("x_stride", c_int64), ("ids", c_uint64), ("id_bytes", c_int64), ("weights", c_uint64)
    ]


class xst_moe_order(Structure):
    _fields_ = [
        ("schedule", c_int), ("lead", c_int64), ("group", c_int64), ("tile_rows", c_int64), ("store", c_int),
        ("slices", c_int64), ("delay_ns", c_int64), ("seed", c_int64), ("unit", c_int64), ("dedup", c_int)
    ]


class xst_plan_number(Structure):
    _fields_ = [
        ("value", c_double), ("known", c_int32)
    ]


class xst_plan_candidate(Structure):
    _fields_ = [
        ("method", c_int), ("order", c_int), ("schedule", c_int), ("predicted_us", xst_plan_number),
        ("tile_rows", xst_plan_number), ("warpgroups", xst_plan_number), ("chunk_bytes", xst_plan_number),
        ("slices", xst_plan_number), ("span_us", xst_plan_number), ("wave_blocks", xst_plan_number),
        ("lead_tiles", xst_plan_number), ("group_tiles", xst_plan_number), ("splits", xst_plan_number),
        ("producers", xst_plan_number), ("bytes_per_producer", xst_plan_number), ("gap_us", xst_plan_number),
        ("staging_slots", xst_plan_number), ("compute_us", xst_plan_number), ("exposed_issue_us", xst_plan_number),
        ("bystander_us", xst_plan_number), ("starve_us", xst_plan_number), ("pull_us", xst_plan_number),
        ("locality_us", xst_plan_number), ("weights_us", xst_plan_number), ("order_us", xst_plan_number),
        ("tail_us", xst_plan_number), ("predicted_drifting_us", xst_plan_number), ("waves", xst_plan_number),
        ("efficiency", xst_plan_number), ("math_rate", xst_plan_number), ("backlog_bytes", xst_plan_number),
        ("shared_bytes", xst_plan_number), ("working_set_bytes", xst_plan_number), ("simulated_us", xst_plan_number),
        ("pareto", c_int32), ("extrapolated", c_int32), ("reason", c_char * 256)
    ]


class xst_plan_question(Structure):
    _fields_ = [
        ("batch", xst_plan_number), ("heads", xst_plan_number), ("head_dim", xst_plan_number), ("seq", xst_plan_number),
        ("hidden", xst_plan_number), ("inter", xst_plan_number), ("experts", xst_plan_number),
        ("topk", xst_plan_number), ("tokens", xst_plan_number), ("ranks", xst_plan_number),
        ("element_bytes", xst_plan_number), ("block_rows", xst_plan_number), ("tile_cols", xst_plan_number),
        ("ctas", xst_plan_number), ("tflops", xst_plan_number), ("burst_bytes_each", xst_plan_number),
        ("burst_gap_us", xst_plan_number), ("bursts", xst_plan_number), ("shared_limit_bytes", xst_plan_number)
    ]


class xst_plan_answers(Structure):
    _fields_ = [
        ("drain_bytes_per_us", xst_plan_number), ("free_capacity_bytes", xst_plan_number), ("kv_us", xst_plan_number),
        ("recovery_gap_us", xst_plan_number), ("m_upper_bound", xst_plan_number),
        ("m_upper_bound_remote", xst_plan_number), ("rank", xst_plan_number), ("rows", xst_plan_number),
        ("blocks", xst_plan_number), ("l1_tiles", xst_plan_number), ("l2_tiles", xst_plan_number),
        ("lead_knee_tiles", xst_plan_number), ("lead_startup_tiles", xst_plan_number),
        ("lead_tail_tiles", xst_plan_number), ("lead_first_tiles", xst_plan_number),
        ("stall_saved_us", xst_plan_number), ("locality_cost_us", xst_plan_number), ("l2_bytes", xst_plan_number),
        ("reread_bytes_per_us", xst_plan_number)
    ]


class xst_plan(Structure):
    _fields_ = [
        ("kind", c_int), ("target", c_int), ("phase", c_int), ("name", c_char * 128), ("profile_id", c_char * 17),
        ("profile_name", c_char * 128), ("question", xst_plan_question), ("answers", xst_plan_answers),
        ("considered", POINTER(xst_plan_candidate)), ("count", c_size_t), ("chosen", c_int64), ("runner_up", c_int64),
        ("sentence", c_char * 400), ("runner_up_sentence", c_char * 400), ("note", c_char * 400)
    ]


class xst_plan_fa_options(Structure):
    _fields_ = [
        ("extrapolate", c_int), ("peak_tflops", c_double), ("given_tflops", c_double), ("producers", c_int64),
        ("tile_cols", c_int64), ("stages", c_int64), ("shared_bytes", c_double), ("phase", c_int), ("methods", c_int),
        ("most_slots", c_int64), ("tile_rows_count", c_size_t), ("tile_rows", c_int64 * 8), ("math_rate", c_double * 8)
    ]


class xst_plan_moe_options(Structure):
    _fields_ = [
        ("extrapolate", c_int), ("peak_tflops", c_double), ("given_tflops", c_double), ("l2_bytes", c_double),
        ("reread_bytes_per_us", c_double), ("methods", c_int), ("order_cost_frac", c_double),
        ("staged_cost_frac", c_double), ("aligned", c_int), ("operand_bytes", c_int64), ("once", c_int)
    ]


class xst_moe_setup(Structure):
    _fields_ = [
        ("shape", xst_moe_shape), ("plan", xst_moe_plan), ("paths", POINTER(xst_path) * 3), ("extrapolate", c_int),
        ("tflops", c_double), ("l1_us", c_double), ("l2_us", c_double), ("act_us", c_double), ("l1_per_block", c_int64),
        ("l2_per_block", c_int64), ("l2_bytes", c_double), ("reread_bytes_per_us", c_double),
        ("order_cost_frac", c_double), ("staged_cost_frac", c_double), ("aligned", c_int), ("operand_bytes", c_int64),
        ("once", c_int), ("lead_first", c_int64), ("lead_knee", c_int64), ("lead_startup", c_int64),
        ("lead_tail", c_int64), ("most_blocks", c_int64)
    ]


class xst_moe_candidate(Structure):
    _fields_ = [
        ("schedule", c_int), ("method", c_int), ("lead_tiles", c_int64), ("group_tiles", c_int64), ("slices", c_int64),
        ("waves", c_int64), ("wave_blocks", c_int64), ("predicted_us", c_double), ("compute_us", c_double),
        ("exposed_issue_us", c_double), ("starve_us", c_double), ("pull_us", c_double), ("locality_us", c_double),
        ("weights_us", c_double), ("order_us", c_double), ("tail_us", c_double), ("working_set_bytes", c_double),
        ("gap", c_int), ("extrapolated", c_int32)
    ]


class xst_moe_choice(Structure):
    _fields_ = [
        ("rows", c_int64), ("blocks", c_int64), ("l1_tiles", c_int64), ("l2_tiles", c_int64), ("count", c_int64),
        ("chosen", c_int64), ("candidates", xst_moe_candidate * 72)
    ]


class xst_plan_traffic_options(Structure):
    _fields_ = [
        ("extrapolate", c_int), ("shared_bytes", c_double), ("methods", c_int), ("splits_count", c_size_t),
        ("splits", c_double * 16), ("slots_count", c_size_t), ("slots", c_int64 * 16), ("producers_count", c_size_t),
        ("producers", c_int64 * 16)
    ]


class xst_moe_bench(Structure):
    _fields_ = [
        ("hidden", c_int64), ("inter", c_int64), ("experts", c_int64), ("topk", c_int64), ("tokens", c_int64),
        ("ranks", c_int64), ("target", c_int), ("remote_frac", c_double), ("routing", c_int), ("skew", c_double),
        ("clamp", c_double), ("dtype", c_int), ("ring", c_int64), ("ctas", c_int64), ("rounds", c_int64),
        ("calls", c_int64), ("seed", c_uint64), ("flop_per_us", c_double), ("memory_bytes_per_us", c_double),
        ("drain_bytes_per_us", c_double)
    ]


class xst_moe_bench_entry(Structure):
    _fields_ = [
        ("form", c_int), ("order", xst_moe_order)
    ]


class xst_moe_bench_row(Structure):
    _fields_ = [
        ("entry", xst_moe_bench_entry), ("ctas", c_int64), ("rows", c_int64), ("calls", c_int64),
        ("median_us", c_double), ("min_us", c_double), ("max_us", c_double), ("tflops", c_double),
        ("memory_bytes", c_double), ("memory_bytes_per_us", c_double), ("buffer_bytes", c_double),
        ("pulled_bytes", c_double), ("remote_bytes", c_double), ("remote_bytes_per_us", c_double),
        ("floor_us", c_double), ("floor_ratio", c_double), ("residual_us", c_double), ("residual_frac", c_double),
        ("speedup", c_double)
    ]


class xst_report_section(Structure):
    _fields_ = [
        ("profile", POINTER(xst_profile)), ("samples", POINTER(xst_samples)), ("fit", POINTER(xst_fit)),
        ("validation", POINTER(xst_validation))
    ]


class xst_report_document(Structure):
    _fields_ = [
        ("name", c_char_p), ("text", c_char_p), ("text_bytes", c_size_t)
    ]


class xst_report_input(Structure):
    _fields_ = [
        ("title", c_char_p), ("sections", POINTER(xst_report_section)), ("section_count", c_size_t),
        ("audits", POINTER(xst_report_document)), ("audit_count", c_size_t), ("benches", POINTER(xst_report_document)),
        ("bench_count", c_size_t)
    ]


class xst_fa_preset(Structure):
    _fields_ = [
        ("name", c_char_p), ("model", c_char_p), ("batch", c_int64), ("heads", c_int64), ("head_dim", c_int64),
        ("seq", c_int64), ("note", c_char_p)
    ]


class xst_moe_preset(Structure):
    _fields_ = [
        ("name", c_char_p), ("model", c_char_p), ("hidden", c_int64), ("inter", c_int64), ("experts", c_int64),
        ("topk", c_int64), ("tokens", c_int64), ("note", c_char_p)
    ]


class xst_sim_source(Structure):
    _fields_ = [
        ("drain_bytes_per_us", c_double), ("capacity_total_bytes", c_double), ("free_capacity_bytes", c_double),
        ("fence_us", c_double), ("groups", c_int64)
    ]


class xst_sim_destination(Structure):
    _fields_ = [
        ("ingress_bytes_per_us", c_double)
    ]


class xst_sim_producer(Structure):
    _fields_ = [
        ("source", c_int64), ("group", c_int64), ("capacity_bytes", c_double), ("weight", c_double)
    ]


class xst_sim_step(Structure):
    _fields_ = [
        ("wait_counter", c_int64), ("wait_value", c_int64), ("load_us", c_double), ("work_us", c_double),
        ("bytes", c_double), ("floor_us", c_double), ("post_counter", c_int64), ("flags", c_uint32)
    ]


class xst_sim_config(Structure):
    _fields_ = [
        ("sources", POINTER(xst_sim_source)), ("source_count", c_int64), ("destinations", POINTER(xst_sim_destination)),
        ("destination_count", c_int64), ("producers", POINTER(xst_sim_producer)), ("producer_count", c_int64),
        ("counter_count", c_int64), ("next", c_void_p), ("context", c_void_p), ("share_spread_burst", c_double),
        ("share_spread", c_double), ("seed", c_uint64), ("series_step_us", c_double), ("series_count", c_size_t),
        ("event_limit", c_int64)
    ]


class xst_sim_account(Structure):
    _fields_ = [
        ("bursts", c_int64), ("steady_bursts", c_int64), ("issue_us", c_double), ("steady_issue_us", c_double),
        ("issue_max_us", c_double), ("wait_us", c_double), ("load_wait_us", c_double), ("load_max_us", c_double),
        ("fence_wait_us", c_double), ("work_us", c_double), ("end_us", c_double), ("drained_us", c_double),
        ("injected_bytes", c_double), ("drained_bytes", c_double)
    ]


class xst_sim_point(Structure):
    _fields_ = [
        ("time_us", c_double), ("backlog_bytes", c_double)
    ]


class xst_sim_result(Structure):
    _fields_ = [
        ("makespan_us", c_double), ("issue_mean_us", c_double), ("steady_issue_mean_us", c_double),
        ("injected_bytes", c_double), ("drained_bytes", c_double), ("backlog_peak_bytes", c_double),
        ("events", c_int64), ("accounts", POINTER(xst_sim_account)), ("account_count", c_int64),
        ("series", POINTER(xst_sim_point)), ("series_count", c_size_t)
    ]


class xst_sim_pattern(Structure):
    _fields_ = [
        ("bytes", c_double), ("floor_us", c_double), ("gap_us", c_double), ("bursts", c_int64)
    ]


class xst_sim_staging(Structure):
    _fields_ = [
        ("pairs", c_int64), ("tiles", c_int64), ("slots", c_int64), ("load_us", c_double), ("compute_us", c_double),
        ("epilogue_us", c_double), ("bytes", c_double), ("floor_us", c_double), ("slices", c_int64),
        ("span_us", c_double), ("bulk", c_int)
    ]


class xst_fluid_prediction(Structure):
    _fields_ = [
        ("total_us", c_double), ("issue_us", c_double), ("own_total_us", c_double), ("events", c_int64)
    ]


class xst_fluid_bystander(Structure):
    _fields_ = [
        ("op_us_mean", c_double), ("op_us_max", c_double)
    ]


class xst_dispersion_options(Structure):
    _fields_ = [
        ("seed", c_uint64), ("holdout_frac", c_double), ("held_out", POINTER(c_ubyte))
    ]


class xst_dispersion_errors(Structure):
    _fields_ = [
        ("n", c_int64), ("median_abs_rel_err", c_double), ("p90_abs_rel_err", c_double), ("max_abs_rel_err", c_double)
    ]


class xst_dispersion(Structure):
    _fields_ = [
        ("rows_fit", c_int64), ("rows_held_out", c_int64), ("rows_unused", c_int64), ("simulations", c_int64),
        ("fit_period", xst_dispersion_errors), ("fit_issue", xst_dispersion_errors),
        ("held_out_period", xst_dispersion_errors), ("held_out_issue", xst_dispersion_errors)
    ]


class xst_floor_curve(Structure):
    _fields_ = [
        ("count", c_int64), ("bytes", c_double * 64), ("us", c_double * 64)
    ]


class xst_timeline_machine(Structure):
    _fields_ = [
        ("drain_bytes_per_us", c_double), ("ingress_bytes_per_us", c_double), ("capacity_bytes", c_double),
        ("visible_us", c_double), ("signal_us", c_double), ("free_capacity_bytes", c_double), ("shared_queue", c_int),
        ("groups", c_int64), ("full_sms", c_int64), ("share_spread", c_double), ("method", c_int),
        ("issue_floor", xst_floor_curve), ("accept_floor", xst_floor_curve)
    ]


class xst_out_of_step(Structure):
    _fields_ = [
        ("extra_frac", c_double), ("enter", c_double), ("stay", c_double)
    ]


class xst_scale_out(Structure):
    _fields_ = [
        ("domain_ranks", c_int64), ("nic_bytes_per_us", c_double), ("latency_us", c_double)
    ]


class xst_tile(Structure):
    _fields_ = [
        ("need_counter", c_int64 * 2), ("need_value", c_int64 * 2), ("work_us", c_double),
        ("post_counter", c_int64 * 2), ("remote_bytes", c_double), ("local_bytes", c_double), ("mix", c_int32),
        ("kind", c_int32), ("part", c_int32), ("id", c_int64)
    ]


class xst_pull(Structure):
    _fields_ = [
        ("need_counter", c_int64), ("need_value", c_int64), ("bytes", c_double), ("post_counter", c_int64),
        ("mix", c_int32)
    ]


class xst_mix(Structure):
    _fields_ = [
        ("count", c_int64), ("ranks", POINTER(c_int64)), ("frac", POINTER(c_double))
    ]


class xst_span(Structure):
    _fields_ = [
        ("rank", c_int32), ("sm", c_int32), ("role", c_int16), ("what", c_int16), ("kind", c_int16),
        ("start_us", c_double), ("end_us", c_double), ("floor_us", c_double), ("id", c_int64)
    ]


class xst_timeline_config(Structure):
    _fields_ = [
        ("machine", xst_timeline_machine), ("ranks", c_int64), ("group_ranks", c_int64), ("sms", c_int64),
        ("staging_slots", c_int64), ("issuer", c_int), ("coupling", c_int), ("counters", c_int64),
        ("mixes", POINTER(xst_mix)), ("mix_count", c_int64), ("post_delay_us", c_double), ("work_spread", c_double),
        ("start_skew_us", c_double), ("rate_step_us", c_double), ("scale_out", xst_scale_out), ("exact_links", c_int),
        ("slices", c_int64), ("pull_hold_us", c_double), ("bystanders", c_int), ("prefetch_us", c_double),
        ("out_of_step", xst_out_of_step), ("queue_full", c_int), ("free_exchange", c_int), ("seed", c_uint64),
        ("event_limit", c_int64), ("series_step_us", c_double), ("series_count", c_int64), ("kind_names", c_char_p * 4),
        ("context", c_void_p), ("next", c_void_p), ("pull", c_void_p), ("describe", c_void_p),
        ("counter_name", c_void_p), ("span", c_void_p), ("span_context", c_void_p)
    ]


class xst_role_time(Structure):
    _fields_ = [
        ("busy_us", c_double), ("stall_us", c_double), ("wait_us", c_double)
    ]


class xst_rank_account(Structure):
    _fields_ = [
        ("math", xst_role_time), ("store", xst_role_time), ("pull", xst_role_time), ("end_us", c_double),
        ("visible_us", c_double), ("pull_end_us", c_double), ("tiles", c_int64), ("bursts", c_int64),
        ("issue_us", c_double), ("issue_max_us", c_double), ("sent_bytes", c_double), ("received_bytes", c_double),
        ("pulled_bytes", c_double), ("backlog_peak_bytes", c_double), ("waited", c_int64 * 4)
    ]


class xst_timeline_point(Structure):
    _fields_ = [
        ("time_us", c_double), ("backlog_bytes", c_double), ("egress_bytes_per_us", c_double),
        ("backlog_first_bytes", c_double), ("egress_first_bytes_per_us", c_double)
    ]


class xst_timeline_result(Structure):
    _fields_ = [
        ("makespan_us", c_double), ("sender_us", c_double), ("free_us", c_double), ("exposed_us", c_double),
        ("barrier_us", c_double), ("combine_us", c_double), ("publish_us", c_double), ("sent_bytes", c_double),
        ("received_bytes", c_double), ("pulled_bytes", c_double), ("tiles", c_int64), ("bursts", c_int64),
        ("events", c_int64), ("waited", c_int64 * 4), ("issue_us", c_double), ("issue_max_us", c_double),
        ("backlog_peak_bytes", c_double), ("ranks", POINTER(xst_rank_account)), ("rank_count", c_int64),
        ("series", POINTER(xst_timeline_point)), ("series_count", c_int64)
    ]


class xst_timeline_options(Structure):
    _fields_ = [
        ("issuer", c_int), ("coupling", c_int), ("work_spread", c_double), ("start_skew_us", c_double),
        ("rate_step_us", c_double), ("scale_out", xst_scale_out), ("exact_links", c_int), ("slices", c_int64),
        ("dispersion", c_int), ("bystanders", c_int), ("as_traced", c_int), ("ingress_bytes_per_us", c_double),
        ("no_free_run", c_int), ("seed", c_uint64), ("event_limit", c_int64), ("series_step_us", c_double),
        ("series_count", c_int64), ("extrapolate", c_int), ("span", c_void_p), ("span_context", c_void_p)
    ]


class xst_timeline_moe(Structure):
    _fields_ = [
        ("lead", c_int64), ("group", c_int64), ("ring_blocks", c_int64), ("no_pull", c_int), ("rows", POINTER(c_int64)),
        ("exchange", c_int), ("memory_bytes_per_us", c_double), ("unit", c_int64), ("operand_bytes", c_int64),
        ("once", c_int)
    ]


class xst_spans(Structure):
    _fields_ = [
        ("spans", POINTER(xst_span)), ("count", c_size_t), ("room", c_size_t), ("most", c_size_t), ("ranks", c_int64),
        ("dropped", c_size_t)
    ]


# name: (result, parameters)
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "xst_audit_fa_a2a": (c_int, [
        POINTER(xst_profile), POINTER(xst_fa_a2a_shape), POINTER(xst_fa_a2a_plan), POINTER(xst_audit_options),
        POINTER(xst_audit), POINTER(xst_diag)
    ]),
    "xst_audit_fa_a2a_trace": (c_int, [
        POINTER(xst_trace), POINTER(xst_profile), POINTER(xst_audit_options), POINTER(xst_trace_check), c_size_t,
        POINTER(c_size_t), POINTER(xst_diag)
    ]),
    "xst_audit_moe": (c_int, [
        POINTER(xst_profile), POINTER(xst_moe_shape), POINTER(xst_moe_plan), POINTER(xst_audit_options),
        POINTER(xst_audit), POINTER(xst_diag)
    ]),
    "xst_audit_moe_trace": (c_int, [
        POINTER(xst_trace), POINTER(xst_profile), POINTER(xst_audit_options), POINTER(xst_trace_check), c_size_t,
        POINTER(c_size_t), POINTER(xst_diag)
    ]),
    "xst_audit_print": (c_int, [POINTER(xst_audit), POINTER(c_void_p), POINTER(xst_diag)]),
    "xst_audit_traffic": (c_int, [
        POINTER(xst_profile), POINTER(xst_traffic), POINTER(xst_audit_options), POINTER(xst_audit), POINTER(xst_diag)
    ]),
    "xst_bench_compare": (c_int, [c_char_p, c_char_p, c_double, POINTER(xst_bench_comparison), POINTER(xst_diag)]),
    "xst_bench_comparison_free": (None, [POINTER(xst_bench_comparison)]),
    "xst_bench_is_record": (c_int, [c_char_p]),
    "xst_bystander_op_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_bystander_op_text": (c_char_p, [c_int]),
    "xst_change_text": (c_char_p, [c_int]),
    "xst_comparison_free": (None, [POINTER(xst_comparison)]),
    "xst_coupling_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_coupling_text": (c_char_p, [c_int]),
    "xst_direction_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_direction_text": (c_char_p, [c_int]),
    "xst_exclude_sentence": (c_char_p, [c_int]),
    "xst_exclude_text": (c_char_p, [c_int]),
    "xst_fa_a2a_bench_check": (c_int, [POINTER(xst_fa_a2a_bench), POINTER(xst_diag)]),
    "xst_fa_a2a_bench_run": (c_int, [POINTER(xst_fa_a2a_bench), POINTER(xst_fa_a2a_bench_row), POINTER(xst_diag)]),
    "xst_fa_a2a_bench_trace": (c_int, [POINTER(xst_fa_a2a_bench), c_uint, POINTER(xst_trace), POINTER(xst_diag)]),
    "xst_fa_a2a_call_check": (c_int, [POINTER(xst_fa_a2a_call), POINTER(xst_fa_a2a_choice), POINTER(xst_diag)]),
    "xst_fa_a2a_call_split": (c_int, [
        POINTER(xst_fa_a2a_call), c_int64, c_int64, c_int64, POINTER(c_int64), POINTER(xst_diag)
    ]),
    "xst_fa_a2a_check": (c_int, [POINTER(xst_fa_a2a_shape), POINTER(xst_fa_a2a_plan), POINTER(xst_diag)]),
    "xst_fa_a2a_choose": (xst_fa_a2a_choice, [POINTER(xst_fa_a2a_call), c_int64]),
    "xst_fa_a2a_close": (None, [c_void_p]),
    "xst_fa_a2a_control_bytes": (c_size_t, []),
    "xst_fa_a2a_count": (c_int, [
        POINTER(xst_fa_a2a_shape), POINTER(xst_fa_a2a_plan), POINTER(xst_fa_a2a_counts), POINTER(xst_diag)
    ]),
    "xst_fa_a2a_fault_offset": (c_size_t, []),
    "xst_fa_a2a_launch": (c_int, [
        c_void_p, POINTER(xst_fa_a2a_call), POINTER(xst_fa_a2a_choice), c_void_p, POINTER(xst_diag)
    ]),
    "xst_fa_a2a_open": (c_int, [c_int64, POINTER(c_void_p), POINTER(xst_diag)]),
    "xst_fa_a2a_push": (c_int, [c_void_p, POINTER(xst_fa_a2a_call), c_uint64, c_int64, c_void_p, POINTER(xst_diag)]),
    "xst_fa_a2a_run": (c_int, [
        c_void_p, POINTER(xst_fa_a2a_call), POINTER(xst_fa_a2a_choice), c_double, c_void_p, POINTER(xst_diag)
    ]),
    "xst_fa_a2a_sm_count": (c_int64, [c_void_p]),
    "xst_fa_a2a_status": (c_int, [c_void_p, POINTER(xst_fa_a2a_call), c_void_p, POINTER(xst_diag)]),
    "xst_fa_a2a_tile_at": (xst_fa_a2a_tile, [POINTER(xst_fa_a2a_shape), POINTER(xst_fa_a2a_plan), c_int64, c_int64]),
    "xst_fa_a2a_traffic": (c_int, [
        POINTER(xst_fa_a2a_shape), POINTER(xst_fa_a2a_plan), POINTER(xst_traffic), POINTER(xst_diag)
    ]),
    "xst_fa_a2a_variant_text": (c_char_p, [c_int]),
    "xst_fa_a2a_wait": (c_int, [c_void_p, POINTER(xst_fa_a2a_call), c_double, c_void_p, POINTER(xst_diag)]),
    "xst_fa_preset_find": (c_int, [c_char_p, POINTER(POINTER(xst_fa_preset)), POINTER(xst_diag)]),
    "xst_fa_presets": (POINTER(xst_fa_preset), [POINTER(c_size_t)]),
    "xst_fit_free": (None, [POINTER(xst_fit)]),
    "xst_floor_source_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_floor_source_text": (c_char_p, [c_int]),
    "xst_flow_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_flow_text": (c_char_p, [c_int]),
    "xst_fluid_bystander_predict": (c_int, [
        POINTER(xst_path), POINTER(xst_bystander_sample), c_double, c_uint64, POINTER(xst_fluid_bystander),
        POINTER(xst_diag)
    ]),
    "xst_fluid_row_predict": (c_int, [
        POINTER(xst_path), POINTER(xst_sample), c_uint64, POINTER(xst_fluid_prediction), POINTER(xst_diag)
    ]),
    "xst_gpu_info_free": (None, [POINTER(xst_gpu_info)]),
    "xst_gpu_info_read": (c_int, [POINTER(xst_gpu_info), POINTER(xst_diag)]),
    "xst_gpu_nvcc_version": (c_char_p, []),
    "xst_group_agree": (c_int, [POINTER(xst_group), c_int, POINTER(xst_diag)]),
    "xst_group_barrier": (c_int, [POINTER(xst_group), POINTER(xst_diag)]),
    "xst_group_gather": (c_int, [POINTER(xst_group), c_void_p, c_size_t, c_void_p, POINTER(xst_diag)]),
    "xst_group_same": (c_int, [POINTER(xst_group), c_char_p, c_char_p, POINTER(xst_diag)]),
    "xst_issuer_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_issuer_text": (c_char_p, [c_int]),
    "xst_law_aligned_issue_us": (c_double, [POINTER(xst_stage), c_double]),
    "xst_law_aligned_period_us": (c_double, [POINTER(xst_stage), c_double]),
    "xst_law_backlog_bytes": (c_double, [POINTER(xst_stage)]),
    "xst_law_bystander_delay_us": (c_double, [c_double, c_double, c_double]),
    "xst_law_completion_coupled_us": (c_double, [POINTER(xst_stage), c_double]),
    "xst_law_isolated_issue_us": (c_double, [POINTER(xst_stage)]),
    "xst_law_issue_us": (c_double, [POINTER(xst_stage), c_double]),
    "xst_law_margin_capacity_bytes": (c_double, [POINTER(xst_stage)]),
    "xst_law_margin_rate_bytes": (c_double, [POINTER(xst_stage), c_double]),
    "xst_law_overhead_us": (c_double, [POINTER(xst_stage), c_double]),
    "xst_law_period_us": (c_double, [POINTER(xst_stage), c_double]),
    "xst_law_predictor": (xst_row_predictor, [c_int]),
    "xst_law_recovery_gap_us": (c_double, [POINTER(xst_stage)]),
    "xst_law_step": (xst_step, [POINTER(xst_stage), c_double, c_double]),
    "xst_lead_find": (c_int, [POINTER(xst_lead_problem), POINTER(xst_lead_knees), POINTER(xst_diag)]),
    "xst_lead_first_tiles": (c_int64, [POINTER(xst_lead_problem)]),
    "xst_lead_run": (c_int, [POINTER(xst_lead_problem), c_int64, POINTER(xst_lead_waits), POINTER(xst_diag)]),
    "xst_machine_check": (c_int, [c_void_p, POINTER(xst_measure_request), POINTER(xst_diag)]),
    "xst_machine_close": (None, [c_void_p]),
    "xst_machine_devices": (c_int64, [c_void_p]),
    "xst_machine_facts": (POINTER(xst_machine_facts), [c_void_p]),
    "xst_machine_facts_read": (c_int, [c_char_p, POINTER(xst_machine_facts), POINTER(xst_diag)]),
    "xst_machine_has_target": (c_int, [c_void_p, c_int]),
    "xst_machine_measure": (c_int, [
        c_void_p, POINTER(xst_measure_request), c_size_t, POINTER(xst_measure_options), POINTER(xst_measure_sink),
        POINTER(xst_diag)
    ]),
    "xst_machine_open": (c_int, [c_char_p, POINTER(c_void_p), POINTER(xst_diag)]),
    "xst_machine_open_profile": (c_int, [POINTER(xst_profile), c_uint64, POINTER(c_void_p), POINTER(xst_diag)]),
    "xst_machine_open_profile_many": (c_int, [
        POINTER(xst_profile), c_char_p, c_uint64, POINTER(c_void_p), POINTER(xst_diag)
    ]),
    "xst_measure_sink_samples": (xst_measure_sink, [POINTER(xst_samples)]),
    "xst_method_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_method_text": (c_char_p, [c_int]),
    "xst_mode_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_mode_text": (c_char_p, [c_int]),
    "xst_model_text": (c_char_p, [c_int]),
    "xst_moe_absent": (c_int, [c_void_p, POINTER(xst_moe_call), c_void_p, POINTER(xst_diag)]),
    "xst_moe_bench_check": (c_int, [POINTER(xst_moe_bench), POINTER(xst_moe_bench_entry), c_size_t, POINTER(xst_diag)]),
    "xst_moe_bench_counts": (c_int, [POINTER(xst_moe_bench), POINTER(c_int64), POINTER(xst_diag)]),
    "xst_moe_bench_run": (c_int, [
        POINTER(xst_moe_bench), POINTER(xst_moe_bench_entry), c_size_t, POINTER(xst_moe_bench_row), POINTER(xst_diag)
    ]),
    "xst_moe_bench_trace": (c_int, [
        POINTER(xst_moe_bench), POINTER(xst_moe_bench_entry), c_size_t, POINTER(xst_trace), POINTER(xst_diag)
    ]),
    "xst_moe_bring": (c_int, [c_void_p, POINTER(xst_moe_call), POINTER(xst_moe_tokens), c_void_p, POINTER(xst_diag)]),
    "xst_moe_call_check": (c_int, [POINTER(xst_moe_call), POINTER(xst_moe_order), POINTER(xst_diag)]),
    "xst_moe_check": (c_int, [POINTER(xst_moe_shape), POINTER(xst_moe_plan), POINTER(xst_diag)]),
    "xst_moe_choose": (c_int, [
        POINTER(xst_moe_setup), POINTER(c_int64), c_int64, c_void_p, c_size_t, POINTER(xst_moe_choice),
        POINTER(xst_diag)
    ]),
    "xst_moe_close": (None, [c_void_p]),
    "xst_moe_count": (c_int, [
        POINTER(xst_moe_shape), POINTER(xst_moe_plan), POINTER(xst_moe_counts), POINTER(xst_diag)
    ]),
    "xst_moe_dedup_of": (c_int, [POINTER(xst_moe_layer), POINTER(xst_moe_order)]),
    "xst_moe_dedup_text": (c_char_p, [c_int]),
    "xst_moe_dtype_text": (c_char_p, [c_int]),
    "xst_moe_experts_of": (None, [POINTER(xst_moe_shape), c_int64, POINTER(c_int64), POINTER(c_int64)]),
    "xst_moe_first_frac": (c_double, [POINTER(xst_moe_shape), c_int64]),
    "xst_moe_form_text": (c_char_p, [c_int]),
    "xst_moe_fused": (c_int, [c_void_p, POINTER(xst_moe_call), POINTER(xst_moe_order), c_void_p, POINTER(xst_diag)]),
    "xst_moe_interleave_w1": (None, [POINTER(c_uint16), POINTER(c_uint16), c_int64, c_int64, POINTER(c_uint16)]),
    "xst_moe_interleave_w1_e4m3": (None, [c_void_p, c_void_p, c_int64, c_int64, c_void_p]),
    "xst_moe_layout": (c_int, [POINTER(xst_moe_layer), POINTER(xst_moe_layout), POINTER(xst_diag)]),
    "xst_moe_open": (c_int, [c_int64, POINTER(c_void_p), POINTER(xst_diag)]),
    "xst_moe_operand_bytes": (c_double, [POINTER(xst_moe_shape), c_int64]),
    "xst_moe_order_of": (c_int, [
        POINTER(xst_moe_setup), POINTER(xst_moe_choice), POINTER(xst_moe_layer), POINTER(xst_moe_order),
        POINTER(xst_diag)
    ]),
    "xst_moe_preset_find": (c_int, [c_char_p, POINTER(POINTER(xst_moe_preset)), POINTER(xst_diag)]),
    "xst_moe_presets": (POINTER(xst_moe_preset), [POINTER(c_size_t)]),
    "xst_moe_quantise_blocks": (None, [POINTER(c_uint16), c_int64, c_int64, c_void_p, POINTER(c_float)]),
    "xst_moe_quantise_rows": (None, [POINTER(c_uint16), c_int64, c_int64, c_void_p, POINTER(c_float)]),
    "xst_moe_ring_blocks": (c_int64, [POINTER(xst_moe_layer), POINTER(xst_moe_order)]),
    "xst_moe_setup_make": (c_int, [
        POINTER(xst_profile), POINTER(xst_moe_shape), POINTER(xst_moe_plan), POINTER(xst_plan_moe_options),
        POINTER(xst_moe_setup), POINTER(xst_diag)
    ]),
    "xst_moe_sm_count": (c_int64, [c_void_p]),
    "xst_moe_status": (c_int, [c_void_p, POINTER(xst_moe_call), c_void_p, POINTER(xst_diag)]),
    "xst_moe_trace_variant": (c_char_p, [POINTER(xst_moe_order)]),
    "xst_moe_traffic": (c_int, [
        POINTER(xst_moe_shape), POINTER(xst_moe_plan), POINTER(xst_traffic), POINTER(xst_diag)
    ]),
    "xst_moe_unfused": (c_int, [c_void_p, POINTER(xst_moe_call), POINTER(xst_moe_order), c_void_p, POINTER(xst_diag)]),
    "xst_moe_unit_of": (c_int64, [POINTER(xst_moe_shape)]),
    "xst_moe_walk_begin": (c_int, [
        POINTER(xst_moe_shape), POINTER(xst_moe_plan), POINTER(c_int64), c_int64, c_int64, c_int64,
        POINTER(xst_moe_walk), POINTER(xst_diag)
    ]),
    "xst_moe_walk_live_blocks": (c_int64, [POINTER(xst_moe_walk)]),
    "xst_moe_walk_next": (c_int, [POINTER(xst_moe_walk), POINTER(xst_moe_tile)]),
    "xst_moe_workspace_bytes": (c_size_t, [POINTER(xst_moe_setup)]),
    "xst_moved_text": (c_char_p, [c_int]),
    "xst_path_capacity_bytes": (c_int, [POINTER(xst_path), c_double, c_int, POINTER(c_double), POINTER(c_int)]),
    "xst_path_fit_dispersion": (c_int, [
        POINTER(xst_path), POINTER(xst_samples), POINTER(xst_dispersion_options), POINTER(xst_dispersion),
        POINTER(xst_diag)
    ]),
    "xst_path_floor_us": (c_int, [POINTER(xst_path), c_double, c_double, c_int, POINTER(c_double), POINTER(c_int)]),
    "xst_path_has_row": (c_int, [POINTER(xst_path), POINTER(xst_sample)]),
    "xst_path_knee_bytes_per_producer": (c_int, [POINTER(xst_path), c_double, POINTER(c_double)]),
    "xst_path_release_capacity_bytes": (c_int, [POINTER(xst_path), c_double, c_int, POINTER(c_double), POINTER(c_int)]),
    "xst_path_release_floor_us": (c_int, [
        POINTER(xst_path), c_double, c_double, c_int, POINTER(c_double), POINTER(c_int)
    ]),
    "xst_path_text": (c_char_p, [POINTER(xst_path), c_char_p, c_size_t]),
    "xst_phase_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_phase_text": (c_char_p, [c_int]),
    "xst_plan_calibration": (c_int, [
        c_int, c_int64, c_double, POINTER(POINTER(xst_measure_request)), POINTER(c_size_t), POINTER(xst_diag)
    ]),
    "xst_plan_check": (c_int, [POINTER(xst_plan), POINTER(xst_diag)]),
    "xst_plan_describe": (c_char_p, [POINTER(xst_plan), POINTER(xst_plan_candidate), c_char_p, c_size_t]),
    "xst_plan_drain_probe": (xst_measure_request, [c_int, c_int64]),
    "xst_plan_fa_a2a": (c_int, [
        POINTER(xst_profile), POINTER(xst_fa_a2a_shape), POINTER(xst_plan_fa_options), POINTER(xst_plan),
        POINTER(xst_diag)
    ]),
    "xst_plan_free": (None, [POINTER(xst_plan)]),
    "xst_plan_kind_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_plan_kind_text": (c_char_p, [c_int]),
    "xst_plan_math_rate": (c_double, [c_int64, c_int64]),
    "xst_plan_moe": (c_int, [
        POINTER(xst_profile), POINTER(xst_moe_shape), POINTER(xst_moe_plan), POINTER(xst_plan_moe_options), c_int64,
        POINTER(c_int64), c_int64, POINTER(xst_plan), POINTER(xst_diag)
    ]),
    "xst_plan_parse": (c_int, [c_char_p, c_char_p, c_size_t, POINTER(xst_plan), POINTER(xst_diag)]),
    "xst_plan_print": (c_int, [POINTER(xst_plan), POINTER(c_void_p), POINTER(xst_diag)]),
    "xst_plan_read": (c_int, [c_char_p, POINTER(xst_plan), POINTER(xst_diag)]),
    "xst_plan_simulate": (c_int, [POINTER(xst_plan), c_void_p, c_void_p, c_size_t, POINTER(xst_diag)]),
    "xst_plan_traffic": (c_int, [
        POINTER(xst_profile), POINTER(xst_traffic), POINTER(xst_plan_traffic_options), POINTER(xst_plan),
        POINTER(xst_diag)
    ]),
    "xst_profile_compare": (c_int, [
        POINTER(xst_profile), POINTER(xst_profile), POINTER(xst_compare_options), POINTER(xst_comparison),
        POINTER(xst_diag)
    ]),
    "xst_profile_fit": (c_int, [
        POINTER(xst_samples), POINTER(xst_fit_options), POINTER(xst_profile), POINTER(xst_fit), POINTER(xst_diag)
    ]),
    "xst_profile_free": (None, [POINTER(xst_profile)]),
    "xst_profile_parse": (c_int, [
        c_char_p, c_char_p, c_size_t, POINTER(xst_profile), POINTER(xst_diag), POINTER(xst_diag)
    ]),
    "xst_profile_path": (POINTER(xst_path), [POINTER(xst_profile), POINTER(xst_path_key)]),
    "xst_profile_print": (c_int, [POINTER(xst_profile), POINTER(c_void_p), POINTER(xst_diag)]),
    "xst_profile_read": (c_int, [c_char_p, POINTER(xst_profile), POINTER(xst_diag), POINTER(xst_diag)]),
    "xst_profile_seal": (c_int, [POINTER(xst_profile), POINTER(xst_diag)]),
    "xst_profile_write": (c_int, [c_char_p, POINTER(xst_profile), c_int, POINTER(xst_diag)]),
    "xst_quantity_text": (c_char_p, [c_int]),
    "xst_ranks_find": (c_int, [POINTER(xst_ranks_asked), POINTER(xst_ranks), POINTER(xst_diag)]),
    "xst_rates_read": (c_int, [c_char_p, POINTER(POINTER(xst_rate)), POINTER(c_size_t), POINTER(xst_diag)]),
    "xst_reason_sentence": (c_char_p, [c_int]),
    "xst_rendezvous_abort": (None, [c_void_p, c_int, c_char_p]),
    "xst_rendezvous_check": (c_int, [c_void_p, POINTER(xst_diag)]),
    "xst_rendezvous_close": (None, [c_void_p]),
    "xst_rendezvous_ended": (c_int, [c_void_p]),
    "xst_rendezvous_group": (POINTER(xst_group), [c_void_p]),
    "xst_rendezvous_open": (c_int, [POINTER(xst_rendezvous_options), POINTER(c_void_p), POINTER(xst_diag)]),
    "xst_rendezvous_told": (c_int, [c_void_p]),
    "xst_report_write": (c_int, [c_char_p, POINTER(xst_report_input), c_int, POINTER(xst_diag)]),
    "xst_report_write_svgs": (c_int, [
        c_char_p, POINTER(xst_report_input), c_int, POINTER(c_size_t), POINTER(xst_diag)
    ]),
    "xst_routing_make": (c_int, [c_int, c_double, POINTER(xst_moe_shape), POINTER(c_int64), POINTER(xst_diag)]),
    "xst_routing_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_routing_text": (c_char_p, [c_int]),
    "xst_row_predict": (None, [POINTER(xst_path), POINTER(xst_sample), c_int, POINTER(xst_row_prediction)]),
    "xst_rows_text": (c_char_p, [c_int]),
    "xst_samples_append": (c_int, [POINTER(xst_samples), POINTER(xst_sample), POINTER(xst_diag)]),
    "xst_samples_append_bystander": (c_int, [POINTER(xst_samples), POINTER(xst_bystander_sample), POINTER(xst_diag)]),
    "xst_samples_append_loop": (c_int, [POINTER(xst_samples), POINTER(xst_loop_sample), POINTER(xst_diag)]),
    "xst_samples_append_producer": (c_int, [POINTER(xst_samples), POINTER(xst_producer_sample), POINTER(xst_diag)]),
    "xst_samples_free": (None, [POINTER(xst_samples)]),
    "xst_samples_parse": (c_int, [c_char_p, c_char_p, c_size_t, POINTER(xst_samples), POINTER(xst_diag)]),
    "xst_samples_read": (c_int, [c_char_p, POINTER(xst_samples), POINTER(xst_diag)]),
    "xst_samples_write": (c_int, [c_char_p, POINTER(xst_samples), c_int, POINTER(xst_diag)]),
    "xst_samples_write_bystanders": (c_int, [c_char_p, POINTER(xst_samples), c_int, POINTER(xst_diag)]),
    "xst_samples_write_loops": (c_int, [c_char_p, POINTER(xst_samples), c_int, POINTER(xst_diag)]),
    "xst_samples_write_producers": (c_int, [c_char_p, POINTER(xst_samples), c_int, POINTER(xst_diag)]),
    "xst_scale_out_simgrid": (c_int, [c_char_p, c_int64, c_double, POINTER(xst_scale_out), POINTER(xst_diag)]),
    "xst_schedule_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_schedule_text": (c_char_p, [c_int]),
    "xst_sim_deal_groups": (None, [c_int64, c_int64, c_int64, POINTER(c_int64)]),
    "xst_sim_pattern_next": (c_int, [c_void_p, c_int64, c_int64, c_double, POINTER(xst_sim_step)]),
    "xst_sim_result_free": (None, [POINTER(xst_sim_result)]),
    "xst_sim_run": (c_int, [POINTER(xst_sim_config), POINTER(xst_sim_result), POINTER(xst_diag)]),
    "xst_sim_staging_next": (c_int, [c_void_p, c_int64, c_int64, c_double, POINTER(xst_sim_step)]),
    "xst_spans_add": (None, [c_void_p, POINTER(xst_span)]),
    "xst_spans_free": (None, [POINTER(xst_spans)]),
    "xst_status_name": (c_char_p, [c_int]),
    "xst_status_sentence": (c_char_p, [c_int]),
    "xst_target_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_target_text": (c_char_p, [c_int]),
    "xst_text_check": (c_int, [c_char_p, c_int, POINTER(xst_diag)]),
    "xst_text_write": (c_int, [c_char_p, c_char_p, c_size_t, c_int, POINTER(xst_diag)]),
    "xst_tile_order_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_tile_order_text": (c_char_p, [c_int]),
    "xst_timeline_fa_a2a": (c_int, [
        POINTER(xst_profile), POINTER(xst_fa_a2a_shape), POINTER(xst_fa_a2a_plan), POINTER(xst_timeline_options),
        POINTER(xst_timeline_result), POINTER(xst_diag)
    ]),
    "xst_timeline_machine_read": (c_int, [
        POINTER(xst_path), c_int64, c_double, c_int, POINTER(xst_timeline_machine), POINTER(xst_diag)
    ]),
    "xst_timeline_moe": (c_int, [
        POINTER(xst_profile), POINTER(xst_moe_shape), POINTER(xst_moe_plan), POINTER(xst_timeline_moe),
        POINTER(xst_timeline_options), POINTER(xst_timeline_result), POINTER(xst_diag)
    ]),
    "xst_timeline_result_free": (None, [POINTER(xst_timeline_result)]),
    "xst_timeline_run": (c_int, [POINTER(xst_timeline_config), POINTER(xst_timeline_result), POINTER(xst_diag)]),
    "xst_timeline_svg": (c_int, [
        POINTER(xst_spans), POINTER(xst_timeline_result), POINTER(c_char_p), c_char_p, c_int64, POINTER(c_void_p),
        POINTER(xst_diag)
    ]),
    "xst_timeline_trace": (c_int, [
        POINTER(xst_spans), POINTER(xst_timeline_result), POINTER(c_char_p), POINTER(c_void_p), POINTER(xst_diag)
    ]),
    "xst_timeline_traffic": (c_int, [
        POINTER(xst_profile), POINTER(xst_traffic), c_int64, POINTER(xst_timeline_options),
        POINTER(xst_timeline_result), POINTER(xst_diag)
    ]),
    "xst_timing_predict": (c_int, [
        POINTER(xst_path), POINTER(xst_burst), c_int, POINTER(xst_timing), POINTER(xst_diag)
    ]),
    "xst_timing_predict_many": (c_int, [
        POINTER(xst_path), POINTER(xst_burst), c_size_t, c_int, POINTER(xst_timing), POINTER(xst_diag)
    ]),
    "xst_trace_add_call": (c_int, [POINTER(xst_trace), c_char_p, POINTER(xst_diag)]),
    "xst_trace_add_fact": (c_int, [POINTER(xst_trace), c_char_p, c_int64, POINTER(xst_diag)]),
    "xst_trace_add_span": (c_int, [POINTER(xst_trace), POINTER(xst_trace_span), POINTER(xst_diag)]),
    "xst_trace_check_kind": (c_int, [c_int]),
    "xst_trace_check_meaning": (c_char_p, [c_int]),
    "xst_trace_check_text": (c_char_p, [c_int]),
    "xst_trace_fact": (c_int, [POINTER(xst_trace), c_char_p, POINTER(c_int64), POINTER(xst_diag)]),
    "xst_trace_finish": (None, [POINTER(xst_trace)]),
    "xst_trace_free": (None, [POINTER(xst_trace)]),
    "xst_trace_parse": (c_int, [c_char_p, c_char_p, c_size_t, POINTER(xst_trace), POINTER(xst_diag)]),
    "xst_trace_read": (c_int, [c_char_p, POINTER(xst_trace), POINTER(xst_diag)]),
    "xst_trace_role_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_trace_role_text": (c_char_p, [c_int]),
    "xst_trace_sum": (None, [POINTER(xst_trace), c_int64, POINTER(xst_trace_times)]),
    "xst_trace_what_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "xst_trace_what_text": (c_char_p, [c_int]),
    "xst_trace_write": (c_int, [POINTER(xst_trace), POINTER(c_void_p), POINTER(xst_diag)]),
    "xst_traffic_check": (c_int, [POINTER(xst_traffic), POINTER(xst_diag)]),
    "xst_traffic_parse": (c_int, [c_char_p, c_char_p, c_size_t, POINTER(xst_traffic), POINTER(xst_diag)]),
    "xst_traffic_read": (c_int, [c_char_p, POINTER(xst_traffic), POINTER(xst_diag)]),
    "xst_validation_free": (None, [POINTER(xst_validation)]),
    "xst_validation_run": (c_int, [
        POINTER(xst_profile), POINTER(xst_samples), POINTER(xst_fit), POINTER(xst_validation), POINTER(xst_diag)
    ]),
    "xst_validation_run_with": (c_int, [
        POINTER(xst_row_predictor), c_size_t, POINTER(xst_profile), POINTER(xst_samples), POINTER(xst_fit),
        POINTER(xst_validation), POINTER(xst_diag)
    ]),
    "xst_verdict_text": (c_char_p, [c_int]),
    "xst_version": (c_char_p, []),
    "xst_workspace_abandon": (None, [c_void_p]),
    "xst_workspace_bytes": (c_size_t, [c_void_p]),
    "xst_workspace_create": (c_int, [c_size_t, c_int64, POINTER(xst_group), POINTER(c_void_p), POINTER(xst_diag)]),
    "xst_workspace_destroy": (c_int, [c_void_p, POINTER(xst_diag)]),
    "xst_workspace_device": (c_char_p, [c_void_p, c_int64]),
    "xst_workspace_pointers": (POINTER(c_uint64), [c_void_p]),
    "xst_workspace_rank": (c_int64, [c_void_p]),
    "xst_workspace_ranks": (c_int64, [c_void_p]),
}
