"""Tests of the value types of the module pbs."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import pbs
from pbs import _objects, _values


class Types(unittest.TestCase):
    def test_size(self):
        for text, want in (("10gb", "10gb"), ("1024", "1024b"), ("3kw", "3kw"), ("5 MB", "5mb")):
            self.assertEqual(str(pbs.size(text)), want)
        self.assertEqual(str(pbs.size("10gb") + pbs.size("10mb")), "10250mb")
        self.assertEqual(str(pbs.size("9gb") + pbs.size("10gb")), "19gb")
        self.assertEqual(str(pbs.size("1gb") - pbs.size("1mb")), "1023mb")
        self.assertTrue(pbs.size("1gb") == pbs.size("1024mb") and pbs.size("1gb") <= pbs.size("2gb") != pbs.size("1gb"))
        self.assertEqual(pbs.size_to_kbytes(pbs.size(1025)), 2)
        for bad in ("x", "-1gb", "1.5gb", ""):
            self.assertRaises(pbs.BadResourceValueError, pbs.size, bad)
        self.assertRaises(pbs.BadResourceValueTypeError, pbs.size, 1.5)

    def test_duration(self):
        self.assertEqual(str(pbs.duration("90")), "00:01:30")
        self.assertEqual(pbs.duration_to_secs("01:00:00"), 3600)
        self.assertEqual(pbs.duration(10) + 5, 15)
        self.assertRaises(pbs.BadResourceValueError, pbs.duration, "soon")

    def test_hold_types(self):
        self.assertEqual(pbs.hold_types("n") + pbs.hold_types("s"), "s")
        self.assertEqual(pbs.hold_types("uos") - pbs.hold_types("os"), "u")
        self.assertEqual(pbs.hold_types("u") - "u", "n")
        self.assertRaises(pbs.BadAttributeValueError, pbs.hold_types, "x")

    def test_exec_vnode(self):
        chunks = pbs.exec_vnode("(a[0]:ncpus=1:mem=5kb+b:ncpus=2)+(c:ncpus=3)").chunks
        self.assertEqual([c.vnode_name for c in chunks], ["a[0]", "b", "c"])

    def test_increment_chunks(self):
        text = "ncpus=2:mem=2gb+ncpus=2:mem=2gb+2:ncpus=1:mem=1gb"
        grown = lambda *a, **k: str(pbs.select(text).increment_chunks(*a, **k))
        self.assertEqual(grown(2), "1:ncpus=2:mem=2gb+3:ncpus=2:mem=2gb+4:ncpus=1:mem=1gb")
        self.assertEqual(grown("50%"), "1:ncpus=2:mem=2gb+2:ncpus=2:mem=2gb+3:ncpus=1:mem=1gb")
        self.assertEqual(grown({1: 1, 2: "2"}), "1:ncpus=2:mem=2gb+2:ncpus=2:mem=2gb+4:ncpus=1:mem=1gb")
        self.assertEqual(grown(1, first_chunk=True), "2:ncpus=2:mem=2gb+2:ncpus=2:mem=2gb+3:ncpus=1:mem=1gb")
        self.assertEqual(str(pbs.select("3:ncpus=1").increment_chunks(1)), "4:ncpus=1")
        for bad in ("x", 1.5, None, [], True):
            self.assertRaisesRegex(ValueError, "bad increment specs", grown, bad)

    def test_constants(self):
        self.assertEqual((pbs.EVENT_DEBUG, pbs.JOB_SUBSTATE_RUNNING, pbs.MGR_CMD_IMPORT, pbs.MGR_OBJ_HOOK), (0x80, 42, 7, 8))
        self.assertEqual(pbs.REVERSE_MGR_CMDS[2], "MGR_CMD_SET")
        self.assertEqual(pbs.REVERSE_BATCH_OPS[1], "BATCH_OP_UNSET")
        self.assertEqual(pbs.REVERSE_JOB_STATE[4], "JOB_STATE_RUNNING")
        self.assertEqual(pbs.REVERSE_JOB_SUBSTATE[42], "JOB_SUBSTATE_RUNNING")
        self.assertEqual(pbs.REVERSE_JOB_SUBSTATES, pbs.REVERSE_JOB_SUBSTATE)
        self.assertEqual(pbs.ATTR_N, "Job_Name")
        self.assertEqual(len([n for n in vars(pbs) if n.startswith("JOB_SUBSTATE_")]), 42)
        self.assertEqual(len([n for n in vars(pbs) if n.startswith("EVENT_")]), 13)

    def test_executable(self):
        _objects.schema["job"]["executable"] = "text"
        j = _objects.job("1.srv", [("executable", "", "<jsdl-hpcpa:Executable>/bin/a&amp;b</jsdl-hpcpa:Executable>")], ["executable"])
        self.assertEqual(j.executable, "/bin/a&b")
        j.executable = "/bin/c&d"
        self.assertEqual(j._changes["executable"], "<jsdl-hpcpa:Executable>/bin/c&amp;d</jsdl-hpcpa:Executable>")

    def test_argument_list(self):
        _objects.schema["job"]["argument_list"] = "text"
        j = _objects.job("1.srv", [], ["argument_list"])
        wrapped = "<jsdl-hpcpa:Argument>%s</jsdl-hpcpa:Argument>"
        for given, want in ((["a b", "<&"], ("a b", "&lt;&amp;")), (("a", 1), ("a", "1")), (pbs.args("a  b"), ("a", "b")), ("-x", ("-x",)), ("<in a", ("&lt;in", "a")), ([], ())):
            j.argument_list = given
            self.assertEqual(j._changes["argument_list"], "".join(wrapped % w for w in want))
        j.argument_list = wrapped % "as it is"
        self.assertEqual(j._changes["argument_list"], wrapped % "as it is")
        j.argument_list = None
        self.assertIsNone(j._changes["argument_list"])

    def test_environment(self):
        env = pbs.pbs_env("A=1,B=x\\,y,C=")
        self.assertEqual(env, {"A": "1", "B": "x,y", "C": ""})
        self.assertEqual(pbs.pbs_env(str(env)), env)

    def test_resource_text(self):
        kinds = {"l": "long", "f": "float", "s": "size", "t": "time", "b": "boolean", "x": "string", "a": "string_array"}
        before = _values.schema["resources"]
        _values.schema["resources"] = kinds
        self.addCleanup(_values.schema.__setitem__, "resources", before)
        for name, value, want in (
            ("l", 5, "5"), ("l", " 7 ", "7"), ("l", -5, "-5"), ("l", 2**63 - 1, str(2**63 - 1)), ("l", pbs.duration(90), "90"),
            ("f", 1, "1"), ("f", 0.1, "0.1"), ("f", "1e3", "1e3"), ("f", 1e-09, "1e-09"), ("s", 1000, "1000b"), ("s", pbs.size("9gb"), "9gb"),
            ("t", 90, "00:01:30"), ("t", 1.7, "00:00:01"), ("t", "1:2", "00:01:02"), ("b", True, "True"), ("b", "n", "False"), ("b", 1, "True"),
            ("x", 5, "5"), ("x", "a\nb", "a\nb"), ("x", True, "True"), ("a", '"a,b"', '"a,b"'), ("unknown", 0.5, "0.5"),
            ("unknown", pbs.duration(90), "90"), ("unknown", True, "True"), ("unknown", "00:01:30", "00:01:30"), ("unknown", pbs.size("5gb"), "5gb"),
        ):
            self.assertEqual(_values.resource_text(name, value), want)
        for name, value in (
            ("l", 2**63), ("l", -2**63), ("l", "1_000"), ("l", 1.5), ("l", "x"), ("l", ""), ("f", float("nan")), ("f", float("inf")), ("f", 1e300),
            ("f", "1_0.5"), ("f", "nan"), ("f", "0x10"), ("s", -5), ("s", "9999999999pb"), ("s", "1eb"), ("s", 1.5), ("t", -3), ("t", float("nan")), ("t", float("inf")),
            ("t", 2**63), ("unknown", 2**63), ("unknown", float("nan")), ("b", "maybe"), ("b", 2), ("b", ""),
        ):
            self.assertRaises((pbs.BadResourceValueError, pbs.BadResourceValueTypeError), _values.resource_text, name, value)
        for name, value in (("l", True), ("f", False), ("s", True), ("l", [1]), ("x", {}), ("x", b"x"), ("a", ["a", "b"]), ("b", ())):
            self.assertRaises(pbs.BadResourceValueTypeError, _values.resource_text, name, value)

    def test_words(self):
        for word, number in (("Execution", pbs.QTYPE_EXECUTION), ("Route", pbs.QTYPE_ROUTE), ("Idle", pbs.SV_STATE_IDLE), ("Active", pbs.SV_STATE_ACTIVE)):
            made = _objects.constant(word)
            self.assertTrue(made == word and made == number and number == made and not made != number, word)
            self.assertFalse(made == number + 1 or made == "x" or made == None, word)  # noqa: E711

    def test_constants(self):
        bits = [getattr(pbs, "ND_" + n) for n in ("FREE OFFLINE DOWN STALE JOBBUSY JOB_EXCLUSIVE RESV_EXCLUSIVE BUSY PROV "
                                                  "WAIT_PROV UNRESOLVABLE SLEEP STATE_UNKNOWN").split()]
        self.assertEqual(len(set(bits)), len(bits))
        shared = [getattr(pbs, "ND_" + n) for n in "DEFAULT_SHARED DEFAULT_EXCL DEFAULT_EXCLHOST IGNORE_EXCL FORCE_EXCL FORCE_EXCLHOST".split()]
        self.assertEqual(len(set(shared)), len(shared))
        for name in ("acl args checkpoint depend duration email_list exec_host exec_vnode group_list hold_types job_sort_formula "
                     "join_path keep_files license_count mail_points node_group_key path_list place range route_destinations "
                     "select size software staging_list state_count user_list vchunk version pbs_env").split():
            self.assertTrue(isinstance(getattr(pbs, name), type), name)


if __name__ == "__main__":
    unittest.main()
