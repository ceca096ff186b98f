"""The faults that the programme knows, the tests that cause each, and the answer that they require."""

from __future__ import annotations

from typing import Final, NamedTuple


class Row(NamedTuple):
    """One fault."""

    number: str
    fault: str
    tests: tuple[str, ...]
    """The tests that cause it, as `path::name`."""
    exercises: tuple[str, ...]
    """The exercises that cause it in large numbers."""
    answer: str
    """What the tests require."""
    missing: str = ""
    """What is not tested."""


_STORE: Final = "tests/store/test_faults.py::"
_ERASE: Final = "tests/erase/test_killed.py::"
_RULES: Final = "tests/backends/leveldb/test_leveldb_rules.py::"
_CRASHES: Final = "tests/backends/leveldb/test_leveldb_crashes.py::"
_PROCESSES: Final = "tests/backends/test_several_processes.py::"
_THREADS: Final = "tests/store/test_threads.py::"
_TAMPER: Final = "tests/trust/audit/test_tamper.py::"
_LAWS: Final = "tests/ledger/test_invariants.py::"
_PG: Final = "tests/backends/postgresql/test_postgresql_faults.py::"
_CLOCK: Final = "tests/store/test_clock_bound.py::"
_STRANGERS: Final = "tests/service/test_strangers.py::"
_SYNC: Final = "tests/sync/test_syncing.py::"
_FLOOD: Final = "tests/service/test_flood.py::"
_HERE: Final = "tests/torture/"
_WINDOW: Final = "tests/window/test_changed_answers.py::"
_CLIENT: Final = "tests/clients/test_changed_answers.py::"

MATRIX: Final = (
    Row(
        "F1", "the process dies at an operation of the backend",
        (_STORE + "test_a_crash_at_any_write_loses_nothing_acknowledged",),
        ("simulation",), "every acknowledged event is in the journal; after repeating, the undisturbed root",
    ),
    Row(
        "F2", "the process dies at a system call",
        (_CRASHES + "test_l10_a_kill_at_a_system_call_loses_nothing_acknowledged",
         _HERE + "test_kills.py::test_a_command_killed_at_a_system_call_is_whole_or_absent"),
        ("kill",), "nothing acknowledged is lost, the store replays, repeating gives the undisturbed root",
    ),
    Row(
        "F3", "the power fails",
        (_HERE + "test_power.py::test_no_loss_of_power_loses_an_acknowledged_event",
         _HERE + "test_power.py::test_an_opening_that_loses_names_in_any_order_loses_no_event",
         _CRASHES + "test_r11_an_older_log_is_synced_before_a_newer_one"),
        ("power",), "the store opens or is rescued, and has every acknowledged event",
    ),
    Row(
        "F4", "an input or output error, once or from then on",
        (_STORE + "test_a_failed_write_is_in_doubt_and_never_acknowledged",
         _RULES + "test_r2_a_failed_sync_leaves_the_write_in_doubt",
         "tests/store/test_failing_imports.py::test_no_method_lets_an_error_of_the_system_out",
         _HERE + "test_kills.py::test_a_system_call_that_fails_loses_nothing"),
        ("eio",), "an error of ours, no acknowledgement; then as F2",
    ),
    Row(
        "F5", "the disk is full",
        (_RULES + "test_r1_after_a_torn_record_nothing_more_is_acknowledged",
         "tests/exchange/test_backup.py::test_nothing_is_left_where_there_is_no_room",
         _HERE + "test_kills.py::test_a_system_call_that_fails_loses_nothing",
         "tests/store/test_full_disk.py::test_a_disk_that_is_really_full"),
        ("enospc",), "as F4; everything that reads works while the disk stays full",
    ),
    Row(
        "F6", "a crash while a crash is cleaned up",
        (_ERASE + "test_a_failure_at_any_write_is_finished_on_opening",
         "tests/backends/test_scratch.py::test_a_killed_verification_leaves_nothing_after_the_next_start",
         _TAMPER + "test_an_interrupted_rebuild_is_reported_and_finished"),
        ("kill",), "the next opening finishes, and removes temporary folders; the same root",
    ),
    Row(
        "F7", "a crash during an upgrade of the format",
        ("tests/golden/test_golden_stores.py::test_a_golden_store_verifies",
         "tests/followers/test_followers.py::test_rows_that_were_deleted_in_part_are_not_taken_for_current"),
        (),
        "a store of an earlier version opens with its root; rows of the old version are never taken for new",
    ),
    Row(
        "F8", "memory runs out",
        (_HERE + "test_memory.py::test_a_command_without_memory_is_whole_or_absent",),
        ("memory",), "an error or the end of the process; then as F1",
    ),
    Row(
        "F9", "an interrupt between the commit and what follows",
        (_HERE + "test_interrupts.py::test_an_interrupted_commit_is_whole_or_refused",
         _RULES + "test_r2_any_exception_in_a_write_poisons_the_handle"),
        ("interrupts",), "the memory agrees with the disk, or the handle refuses to go on",
    ),
    Row(
        "F10", "a bit flips in a file",
        (_HERE + "test_rot.py::test_no_flipped_bit_changes_an_answer",
         _RULES + "test_r7_a_flipped_bit_in_a_table_is_never_served"),
        ("flips",), "an error, or the same answers: never another answer",
    ),
    Row(
        "F11", "a file is cut, deleted, swapped or partly zero",
        (_HERE + "test_rot.py::test_a_damaged_file_is_noticed_with_a_kept_root",
         _TAMPER + "test_an_older_copy_is_found_by_its_root_only"),
        ("surgery",), "an error, or found by comparing with a root that was kept outside",
    ),
    Row(
        "F12", "rows are changed from outside",
        (_TAMPER + "test_a_changed_row_is_found_and_its_family_named",
         _TAMPER + "test_a_changed_cursor_is_found_or_its_rows_are_computed_again",
         _TAMPER + "test_a_rebuild_heals_every_projection",
         _HERE + "test_tampered_rows.py::test_no_changed_row_misleads_a_command"),
        ("rows",), "`engine verify-root` names the family; a rebuild heals derived rows, never the journal",
    ),
    Row(
        "F13", "a bit flips before it is written",
        (_HERE + "test_writes.py::test_no_note_is_issued_over_a_flipped_bit",),
        ("writes",), "no checkpoint note over bad data",
    ),
    Row(
        "F14", "a read returns nothing, an old value, another row's value or a flipped bit",
        (_HERE + "test_reads.py::test_no_write_rests_on_a_wrong_read",), ("reads",),
        "an error; no write that rests on it",
    ),
    Row(
        "F15", "the store is opened several times",
        (_PROCESSES + "test_one_of_three_gets_a_new_leveldb_store",
         _PROCESSES + "test_the_second_process_is_told_who_has_the_leveldb_store",
         _PROCESSES + "test_three_processes_count_in_sqlite_and_lose_nothing",
         "tests/backends/test_open.py::test_one_handle_a_process_whatever_the_path"),
        (), "one writer; the others are told who has it",
    ),
    Row(
        "F16", "a process with an open store forks",
        (_RULES + "test_r4_a_forked_process_writes_nothing",
         _RULES + "test_r4_a_forked_process_that_ends_leaves_the_files_alone",
         "tests/backends/suite_threads.py::ThreadSuite.test_a_forked_process_cannot_use_the_handle"),
        (), "the child gets an error, the parent goes on",
    ),
    Row(
        "F17", "threads and processes at once",
        (_THREADS + "test_the_order_of_the_journal_explains_every_read",
         _THREADS + "test_closing_during_reads_and_writes_is_clean",
         "tests/store/test_several_writers.py::test_three_writers_lose_nothing",
         _HERE + "test_simulation.py::test_several_processes_lose_nothing_whatever_fails"),
        ("simulation",), "the order of the journal explains every read; no command is lost",
    ),
    Row(
        "F18", "the clock stands still, jumps, goes back or is ahead",
        (_LAWS + "test_i14_time_is_recorded_but_determines_no_order",
         _LAWS + "test_i14_hashes_depend_on_commands_clock_and_salts_only",
         _CLOCK + "test_a_process_ahead_of_the_database_writes_nothing",
         _CLOCK + "test_a_clock_that_jumps_is_noticed",
         _CLOCK + "test_no_byte_depends_on_the_clock_of_the_database"),
        (), "the order and the ids do not depend on the clock; nothing is written over five minutes ahead",
    ),
    Row(
        "F19", "a command is repeated, or its outcome is in doubt",
        (_STORE + "test_was_kept_tells_the_truth", _LAWS + "test_i1_a_repeated_command_appends_nothing"),
        ("kill", "eio"), "a repeated command appends nothing; an error says which event is in doubt",
    ),
    Row(
        "F20", "a mirror is written in part",
        ("tests/files/mirror/test_killed.py::test_killed_anywhere_each_page_stands_whole",),
        ("kill",), "each page is whole, old or new, and the next run ends it",
    ),
    Row(
        "F21", "handles or memory leak",
        ("tests/backends/sqlite/test_sqlite_rules.py::test_connections_are_given_back",
         _HERE + "test_leaks.py::test_opening_again_and_again_leaves_nothing_behind"),
        ("leaks",), "the numbers stay flat",
    ),
    Row(
        "F22", "PostgreSQL: the connection or the server fails",
        (_PG + "test_a_connection_cut_during_a_commit_is_settled",
         _PG + "test_connections_cut_at_any_byte_lose_nothing",
         _PG + "test_a_write_sent_before_the_fence_was_raised_does_nothing",
         _PG + "test_a_restarted_server_loses_nothing",
         _PG + "test_after_the_primary_is_lost_the_standby_has_every_write",
         _PG + "test_a_serialization_failure_on_the_server_is_settled_by_sending_again",
         _PG + "test_a_deadlock_on_the_server_is_settled_by_sending_again",
         _PG + "test_a_full_disk_refuses_writes_and_loses_nothing",
         _PG + "test_a_quota_that_is_used_up_refuses_the_write",
         _PG + "test_a_write_without_the_rights_for_it_is_refused",
         _PG + "test_each_failure_has_one_class_of_answer"),
        (), "no acknowledged write is lost, and none is applied twice; one class of answer for each failure",
        "the quota of a real file system (a trigger answers in its place)",
    ),
    Row(
        "F23", "a service lies to the window",
        (_WINDOW + "test_a_changed_answer_puts_no_mark_over_what_is_not_recorded",
         _WINDOW + "test_a_lie_that_once_stood_under_a_mark_does_not"),
        (), "what stands under a mark is what is recorded",
    ),
    Row(
        "F24", "a service lies to a client in Python",
        (_CLIENT + "test_a_changed_answer_is_refused_or_makes_no_difference",
         _CLIENT + "test_an_answer_from_elsewhere_is_refused_or_makes_no_difference"),
        (), "what the client returns as verified is what is recorded, or there is an error",
    ),
    Row(
        "F25", "clients without a token flood the service",
        (_STRANGERS + "test_strangers_have_one_request_in_a_turn",
         _STRANGERS + "test_few_chunks_are_parsed_in_a_turn",
         _STRANGERS + "test_nothing_is_read_after_a_refusal",
         _STRANGERS + "test_little_is_read_of_a_connection_without_a_token",
         _FLOOD + "test_a_flood_of_strangers_does_not_keep_out_a_client_with_a_token"),
        (), "at most 32 KiB are read of a connection, one request begins in a turn, and clients with a token "
        "are answered",
    ),
    Row(
        "F26", "the folder of the devices is altered, cut, incomplete or rolled back",
        (_SYNC + "test_a_damaged_file_is_named_and_the_rest_is_read",
         _SYNC + "test_swapped_and_replayed_packs_are_refused",
         _SYNC + "test_a_rollback_is_told_by_a_device_that_knows_more",
         _SYNC + "test_a_copied_device_gets_an_id_of_its_own",
         _SYNC + "test_devices_agree_after_a_full_exchange"),
        (), "what is wrong is named and not read, everything else is, and all devices agree in the end",
    ),
    Row(
        "F27", "a sync breaks off, or a disk is full during it",
        ("tests/sync/test_killed.py::test_a_sync_that_breaks_off_anywhere_is_continued",
         _SYNC + "test_a_failure_at_any_file_operation_loses_nothing"),
        (), "others read whole files only, and the next sync ends in the same state",
    ),
)  # fmt: skip
"""All faults, in order."""
