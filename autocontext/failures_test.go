package autocontext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// Lines that report a failure, and lines that only have its words.
func TestReportsFailure(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"Traceback (most recent call last):", "ValueError: no such name", "django.db.utils.OperationalError: no such table: x", "AssertionError",
		"E   ImportError: no module", "java.lang.IllegalStateException: closed", `Exception in thread "main" java.lang.Error`, "panic: runtime error",
		"thread 'main' panicked at src/main.rs:2:5:", "the check raised an exception: conflict",
		"FAIL: test_join (queries.tests)", "FAILED (errors=6, skipped=2)", "FAILED tests/a.py::test_b", "test result: FAILED", "--- FAIL: TestX (0.00s)",
		"FAIL\tgithub.com/a/b\t0.1s", "=== 1 failed, 882 passed in 14.17s ===", "Tests:       1 failed, 3 passed, 4 total", "  2 failing", "not ok 3 - adds", "FAILURE: it was not cleared",
		"sum failed: a vector must be supplied", "<returncode>1</returncode>", "exit status 2", "Process exited with code 127", `  "exit_code": 3,`, "command returned non-zero exit status",
		`{"error": "no such flight"}`, "rm: cannot remove 'x': No such file or directory", "ls: /root: Permission denied", "bash: foo: command not found", "sh: 1: foo: not found",
		"Segmentation fault (core dumped)", "The last command timed out and was killed.", "EXECUTION TIMED OUT AFTER 60 S", "fatal: not a git repository", "error: expected `;`",
		"error[E0308]: mismatched types", "src/a.c:12:5: error: expected expression", "app.ts(3,5): error TS2304: Cannot find name", "./main.go:3:5: undefined: x", "Main.java:3: error: ';' expected",
		"ERRORS:", "[ERROR] Failed to execute goal", "npm ERR! code ELIFECYCLE", "make: *** [all] Error 2", "\x1b[31mFAILED\x1b[0m tests/a.py", "ValueError: x\r",
		"curl: (6) Could not resolve host: nope", `Error from server (NotFound): pods "x" not found`, "✖ 1 problem (1 error, 0 warnings)",
		"app.rb:3:in `sum': undefined method `x' for nil (NoMethodError)",
	} {
		require.True(t, reportsFailure(line), line)
		require.True(t, hasFailure("before\n"+line+"\nafter"), line)
		require.True(t, hasFailure(line), line)
	}
	for _, line := range []string{
		"", "all is well", "    raise ValueError('no such name')", "   281\t            raise LookupError(\"no model\")", "        except UnicodeDecodeError:", "    Traceback (most recent call last):",
		"+ValueError: no", "-FAILED (errors=1)", "# FAILED (errors=1)", "12: FAIL: test_join", "tests/a.py:12:FAIL: test_join", "from errors import ValueError, TypeError", "class InvalidPage(Exception):",
		"OK (skipped=9, expected failures=2)", "2424 passed in 18.78s", "0 failed", "exit code 0", "<returncode>0</returncode>", `{"error": null}`, `"error": ""`, "plugins: rerunfailures-15.0",
		"test_error_messages.py", "  // panic: at the end", "panic at the disco", "the error is small", "an error: of 3 %", "Success: no error",
		"curl: a tool", "✖ 0 problems", "app.rb:3:in `sum'", "app.rb:3: # calls x in (NoMethodError)",
	} {
		require.False(t, reportsFailure(line), line)
		require.False(t, hasFailure("before\n"+line+"\nafter"), line)
	}
	require.False(t, reportsFailure(strings.Repeat("x", maxReportLine)+" exit code 1"), "of a long line only the beginning is read")
}

// The excerpt of a result that tells of a failure has the lines that tell, and not those with a word of it.
func TestExcerptOfToldFailure(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("    raise ValueError('an error that nobody had')\n", 40) + "FAIL: test_join (queries)\n" + strings.Repeat("ok\n", 400)
	m := echo.NewToolResult(echo.ToolCall{ID: "c1", Name: "bash"}, echo.Text(text), false)
	got := excerptAround(m, errorLimit).Text()
	require.Contains(t, got, "FAIL: test_join (queries)")
	require.Contains(t, got, "characters cut. recall")
	require.Less(t, len(got), errorLimit+200)
}

// Every form of a report compiles, and there is a word to look for it.
func TestFailurePatternsCompile(t *testing.T) {
	t.Parallel()
	for _, p := range failurePatterns {
		require.NotEmpty(t, p.word)
		require.NotPanics(t, func() { p.form() }, p.word)
	}
}
