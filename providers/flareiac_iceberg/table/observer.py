"""Observes many tables by few questions. Touches the world by reading only."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.requests import ReadRequest
from flareiac.sdk.results import Observation, Present, Unreadable
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.maintenance.catalog_listing import Listings
from flareiac_iceberg.table.current import current
from flareiac_iceberg.table.observed import observed_table, recorded_table
from flareiac_iceberg.table.purge_check import PURGES
from flareiac_iceberg.table.purge_survey import PurgeSurvey
from flareiac_iceberg.table.read import (
    Entries,
    Key,
    Listed,
    complete_as_recorded,
    entries_of,
    group,
    key_of,
    observe,
    observe_moving,
    requested,
)
from flareiac_iceberg.table.shared_files import shares_files


class TableObserver:
    """Keeps the answers of namespaces until each table of a round is read. Safe to use from several
    threads.
    """

    def __init__(self, listings: Listings, survey: PurgeSurvey) -> None:
        self._listings = listings
        self._survey = survey
        self._listed = Listed({}, {})
        self._waiting: dict[str, Key] = {}
        self._lock = threading.Lock()

    def prefetch(self, requests: Sequence[ReadRequest]) -> Mapping[str, Observation]:
        """Asks each namespace once. Tables whose metadata file is still the recorded one need nothing more;
        for each other one, the answer serves one read, also where it is a failure. A new round of measuring
        follows, too.
        """
        self._listings.forget()
        targets: dict[str, Target] = {}
        for request in requests:
            self._survey.learn(request)
            with suppress(Failure):  # the read of it reports that
                targets[request.address] = requested(request)
        listed = group(targets.values())
        complete: dict[str, Observation] = {}
        waiting: dict[str, Key] = {}
        for request in requests:
            target = targets.get(request.address)
            if target is None:
                continue
            key = key_of(target)
            entries = listed.entries.get(key)
            observation = complete_as_recorded(request, target, entries) if entries is not None else None
            if observation is not None:
                complete[request.address] = observation
            else:
                waiting[request.address] = key
        with self._lock:
            self._listed, self._waiting = listed, waiting
        return complete

    def read(self, request: ReadRequest) -> Observation:
        """The observed table; nothing is opened but the catalog when the recorded metadata file is still the
        current one.
        """
        try:
            target = requested(request)
            observation = observe_moving(
                request, observe(request, target, self._entries(request.address, target))
            )
            return self._with_doomed(request, target, observation)
        except Failure as failure:
            return Unreadable(diagnostic=failure.diagnostics[0].at(address=request.address))

    def _entries(self, address: str, target: Target) -> Entries:
        with self._lock:
            key = self._waiting.pop(address, None)
            if key == key_of(target):
                return self._listed.of(key)
        self._listings.forget()
        return entries_of(target)

    def _with_doomed(self, request: ReadRequest, target: Target, observation: Observation) -> Observation:
        """The observation, with the files that a purge would delete where the table is to be purged."""
        self._survey.learn(request)
        recorded = request.recorded
        if request.desired is not None or recorded is None or not isinstance(observation, Present):
            return observation
        seen = observed_table(observation)
        if recorded_table(recorded).definition.on_destroy not in PURGES:
            return observation
        there = current(target)
        if there is None or shares_files(there.properties):
            return observation
        return replace(observation, facts=replace(seen.facts, doomed=self._survey.doomed(target, there)))
