"""The laws of change details: over all small lists, and over random ones. The reference is in this file."""

import bisect
import itertools
import json
import random
import unittest

from photod import (
    DetailsMismatch,
    FetchResult,
    FetchResultChangeDetails,
    IndexRange,
    Move,
    Observation,
    OutOfStep,
    list_digest,
    positions,
)


def ranges(numbers):
    """Ascending positions as ranges that never touch."""
    found = []
    for number in numbers:
        if found and found[-1][0] + found[-1][1] == number:
            found[-1][1] += 1
        else:
            found.append([number, 1])
    return [{"start": start, "count": count} for start, count in found]


def kept_order(sequence):
    """The indexes of a longest ascending subsequence."""
    tails, tail_indexes, before = [], [], []
    for index, value in enumerate(sequence):
        length = bisect.bisect_left(tails, value)
        before.append(tail_indexes[length - 1] if length else None)
        tails[length : length + 1] = [value]
        tail_indexes[length : length + 1] = [index]
    kept = []
    index = tail_indexes[-1] if tail_indexes else None
    while index is not None:
        kept.append(index)
        index = before[index]
    return set(kept)


def reference(before, after, touched, deleted=()):
    """The message of the details from one list to another, by their definition."""
    position_before = {id: index for index, id in enumerate(before)}
    position_after = {id: index for index, id in enumerate(after)}
    survivors = [id for id in after if id in position_before]
    kept = kept_order([position_before[id] for id in survivors])
    inserted = [index for index, id in enumerate(after) if id not in position_before]
    return {
        "countBefore": len(before),
        "countAfter": len(after),
        "removedBefore": ranges(index for index, id in enumerate(before) if id not in position_after),
        "deletedBefore": ranges(index for index, id in enumerate(before) if id not in position_after and id in deleted),
        "insertedAfter": ranges(inserted),
        "insertedIDs": [after[index] for index in inserted],
        "changedBefore": ranges(i for i, id in enumerate(before) if id in touched and id in position_after),
        "changedAfter": ranges(i for i, id in enumerate(after) if id in touched and id in position_before),
        "changedFields": ["favorite"] if touched else [],
        "moves": [
            {"fromBefore": position_before[id], "toAfter": position_after[id]}
            for index, id in enumerate(survivors)
            if index not in kept
        ],
    }


def small_lists(count):
    for length in range(count + 1):
        for chosen in itertools.permutations(range(1, count + 1), length):
            yield list(chosen)


class ChangeDetailsTests(unittest.TestCase):
    def check(self, before, after, touched=frozenset()):
        message = reference(before, after, touched)
        # As it comes over the socket.
        details = FetchResultChangeDetails.from_message(json.loads(json.dumps(message)))
        self.assertEqual(details.to_message(), message)
        # The lists have equal lengths after the removed and the inserted.
        removed, inserted = set(positions(details.removed_before)), set(positions(details.inserted_after))
        self.assertEqual(len(before) - len(removed) + len(inserted), len(after))
        self.assertTrue(removed.isdisjoint(move.from_before for move in details.moves))
        self.assertTrue(inserted.isdisjoint(move.to_after for move in details.moves))

        self.assertEqual(details.applied(before), after)
        sequential = list(before)
        details.apply_sequentially(sequential)
        self.assertEqual(sequential, after)
        model = list(before)
        for edit in details.list_model_edits(before):
            self.assertLessEqual(edit.position + edit.removed, len(model))
            model[edit.position : edit.position + edit.removed] = edit.ids
            self.assertEqual(len(set(model)), len(model), "an id is in the list twice")
        self.assertEqual(model, after)
        refreshed = [after[index] for index in positions(details.changed_after)]
        self.assertEqual(set(refreshed), set(before) & set(after) & set(touched))
        self.assertEqual(sorted(refreshed), sorted(before[i] for i in positions(details.changed_before)))

        back = FetchResultChangeDetails.from_message(reference(after, before, touched))
        self.assertEqual(back.removed_before, details.inserted_after)
        self.assertEqual(back.inserted_after, details.removed_before)
        self.assertEqual(len(back.moves), len(details.moves))

    def test_all_small_lists(self):
        lists = list(small_lists(4))
        for before in lists:
            for after in lists:
                self.check(before, after, {1, 3})

    def test_random_lists(self):
        generator = random.Random(7)
        for _ in range(400):
            ids = list(range(1, generator.randrange(2, 120)))
            before = generator.sample(ids, generator.randrange(len(ids)))
            after = generator.sample(ids, generator.randrange(len(ids)))
            if generator.random() < 0.5:
                # Few moves among many ids that stay.
                after = [id for id in before if generator.random() < 0.9]
                for _ in range(generator.randrange(4)):
                    if after:
                        after.insert(generator.randrange(len(after)), after.pop(generator.randrange(len(after))))
            self.check(before, after, set(generator.sample(ids, len(ids) // 3)))

    def test_digest_is_that_of_the_contract(self):
        self.assertEqual(list_digest([1, 2, 3]), "00036800000ae692")
        self.assertEqual(list_digest([]), "0" * 16)

    def test_details_that_do_not_fit_are_refused(self):
        def details(**members):
            return FetchResultChangeDetails(**{"count_before": 3, "count_after": 3, **members})

        one, last, beyond = (IndexRange(0, 1),), (IndexRange(2, 1),), (IndexRange(2, 2),)
        for faulty in [
            details(count_before=4),
            details(removed_before=beyond, count_after=1),
            details(removed_before=one),
            details(removed_before=(IndexRange(0, 1), IndexRange(1, 1)), count_after=1),
            details(removed_before=(IndexRange(1, 1), IndexRange(0, 1)), count_after=1),
            details(removed_before=(IndexRange(-1, 1),), count_after=2),
            details(removed_before=(IndexRange(0, 0),)),
            details(removed_before=one, inserted_after=one, inserted_ids=(7, 8)),
            details(changed_before=one),
            details(changed_before=one, changed_after=one, removed_before=one, inserted_after=last, inserted_ids=(7,)),
            details(moves=(Move(0, 3),)),
            details(moves=(Move(-1, 0),)),
            details(moves=(Move(0, 1), Move(0, 2))),
            details(moves=(Move(0, 1), Move(1, 1))),
            details(moves=(Move(0, 2), Move(1, 0))),
            details(moves=(Move(0, 1),), removed_before=one, inserted_after=last, inserted_ids=(7,)),
            details(moves=(Move(0, 2),), removed_before=last, inserted_after=last, inserted_ids=(7,)),
            details(deleted_before=beyond),
        ]:
            with self.subTest(faulty), self.assertRaises(DetailsMismatch):
                faulty.applied([1, 2, 3])
            ids = [1, 2, 3]
            with self.subTest(faulty), self.assertRaises(DetailsMismatch):
                faulty.apply_sequentially(ids)
            self.assertEqual(ids, [1, 2, 3])
            with self.subTest(faulty), self.assertRaises(DetailsMismatch):
                faulty.list_model_edits(ids)


class FetchResultTests(unittest.TestCase):
    """A copy of a list, by observations that the test writes."""

    def observation(self, after, token, previous=None, **members):
        message = {"token": token, "count": len(after), "digest": list_digest(after), **members}
        if previous is not None:
            message["previousToken"] = previous
        return Observation.from_message(message)

    def page(self, ids, token, offset, page, **members):
        complete = offset + len(page) == len(ids)
        return self.observation(ids, token, offset=offset, ids=page, complete=complete, **members)

    def result(self, ids):
        result = FetchResult()
        result.apply(self.page(ids, "t0", 0, ids))
        return result

    def test_pages_become_one_list(self):
        result = FetchResult()
        ids = list(range(10, 0, -1))
        self.assertIsNone(result.apply(self.page(ids, "t0", 0, ids[:4])))
        self.assertEqual((len(result), result.token), (0, None))
        change = result.apply(self.page(ids, "t0", 4, ids[4:]))
        self.assertEqual((change.before, change.after, change.details), ([], ids, None))
        self.assertEqual(change.list_model_edits(), [(0, 0, ids)])
        self.assertEqual((list(result), result.token, result[0]), (ids, "t0", 10))

    def test_random_differences(self):
        generator = random.Random(3)
        for _ in range(50):
            ids = generator.sample(range(100), 40)
            result = self.result(ids)
            model = list(ids)
            for number in range(10):
                after = generator.sample(range(100), generator.randrange(60))
                details = reference(result.ids, after, set(range(0, 100, 7)))
                change = result.apply(self.observation(after, f"t{number + 1}", f"t{number}", details=details))
                for edit in change.list_model_edits():
                    model[edit.position : edit.position + edit.removed] = edit.ids
                self.assertEqual((list(result.ids), model), (after, after))
                self.assertEqual(result.digest, list_digest(after))

    def test_a_deleted_collection_is_told_from_an_empty_one(self):
        result = self.result([3, 2])
        details = reference([3, 2], [], set())
        change = result.apply(self.observation([], "t1", "t0", details=details, collectionDeleted=True))
        self.assertEqual((change.collection_deleted, change.reload, list(change.after)), (True, None, []))
        self.assertIsNone(result.apply(self.observation([], "t2", "t1", collectionDeleted=True)))
        self.assertTrue(result.collection_deleted)
        back = result.apply(self.observation([], "t3", "t2"))
        self.assertEqual((back.collection_deleted, back.token, back.list_model_edits()), (False, "t3", []))
        again = result.apply(self.page([], "t4", 0, [], reload="tokenExpired", collectionDeleted=True))
        self.assertEqual((again.collection_deleted, again.reload), (True, "tokenExpired"))

    def test_reload_replaces_the_list(self):
        result = self.result([3, 2, 1])
        change = result.apply(self.page([5, 4], "t9", 0, [5, 4], reload="aLaterReason"))
        self.assertEqual((change.reload, change.details), ("aLaterReason", None))
        self.assertEqual(change.list_model_edits(), [(0, 3, [5, 4])])

    def test_same_list_has_no_change(self):
        result = self.result([3, 2, 1])
        self.assertIsNone(result.apply(self.observation([3, 2, 1], "t1", "t0")))
        self.assertEqual(result.token, "t1")

    def test_list_that_is_not_wanted_is_reported(self):
        result = self.result([3, 2, 1])
        change = result.apply(self.observation([3, 2], "t1", "t0", reload="notWanted"))
        self.assertEqual((change.reload, list(result), result.token), ("notWanted", [3, 2, 1], "t1"))

    def test_faults_are_found_and_leave_the_list(self):
        ids = [3, 2, 1]
        good = reference(ids, [2, 1], set())
        for name, observation in {
            "another chain": self.observation([2, 1], "t2", "t1", details=good),
            "another digest": self.observation([1, 2], "t1", "t0", details=good),
            "another count": self.observation([2], "t1", "t0", details=good),
            "a part": self.page([9, 8, 7], "t1", 1, [8]),
            "another list": self.observation([3, 1, 2], "t1", "t0"),
            "other details": self.observation([2, 1], "t1", "t0", details=reference([4, 3, 2, 1], [2, 1], set())),
        }.items():
            with self.subTest(name):
                result = self.result(ids)
                with self.assertRaises(OutOfStep):
                    result.apply(observation)
                self.assertEqual((list(result), result.token), (ids, "t0"))
        result = FetchResult()
        with self.assertRaises(OutOfStep):
            result.apply(self.observation([2, 1], "t1", "t0", details=good))
        result.apply(self.page(ids, "t0", 0, ids[:1]))
        with self.assertRaises(OutOfStep):
            result.apply(self.observation([2, 1], "t1", "t0", details=good))


if __name__ == "__main__":
    unittest.main()
