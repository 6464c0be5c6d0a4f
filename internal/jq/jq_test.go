package jq

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
	"github.com/stretchr/testify/require"
)

const sample = `{"items": [{"id": 1, "name": "a", "user": {"login": "x"}, "tags": ["t", "u"], "open": true},
	{"id": 2, "name": "b", "user": {"login": "y"}, "tags": [], "open": false}], "total": 2.50, "big": 12345678901234567890}`

// TestBothWaysAreAlike: a program makes the same in this process and in one of its own.
func TestBothWaysAreAlike(t *testing.T) {
	t.Parallel()
	for src, light := range map[string]bool{
		`.`: true, `.total`: true, `.big`: true, `.items[].name`: true, `.items[0]`: true, `.items[-1]`: true, `.items[0:1]`: true, `.["total"]`: true,
		`.items[] | {id, name, login: .user.login}`: true, `.items[] | select(.open) | .name`: true, `[.items[] | .id]`: true,
		`.items | map({id, tags})`: true, `.items | map(.tags | length)`: true, `.none // "no"`: true, `.items[]? | .tags[]?`: true,
		`.items | length`: true, `.items[] | select(.id == 2 and .open == false)`: true, `.items[] | [.id, .name]`: true, `.a.b`: true, `.total | .x`: true,

		`.items[] | "\(.id): \(.name)"`: false, `.items | map(.id) | add`: false, `[range(3)]`: false, `.items | group_by(.open)`: false,
		`reduce .items[] as $x (0; . + $x.id)`: false, `.items[] as $a | .items[] as $b | [$a.id, $b.id]`: false, `error("no")`: false,
		`[limit(2; repeat(1))]`: false, `def f: .; f`: false, `{a: .items[].id, b: .items[].id}`: false, `env`: false, `$ENV.HOME`: false,
		`.items | tojson`: false, `"x" * 3`: false, `halt`: false, `"a" | halt_error`: false, `.. | .id? // empty`: false,
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			p, err := Compile(src)
			require.NoError(t, err)
			require.Equal(t, light, p.weight > 0, "weight %d", p.weight)
			here, hereErr := evaluate(t.Context(), p.code, []byte(sample), 1<<16)
			apart, apartErr := p.apart(t.Context(), []byte(sample), 1<<16)
			require.Equal(t, here, apart)
			require.Equal(t, fmt.Sprint(hereErr), fmt.Sprint(apartErr))
		})
	}
}

// TestMemoryIsBounded: each of these takes gigabytes, as fast as it can or at once.
func TestMemoryIsBounded(t *testing.T) {
	for _, src := range []string{
		`[range(1e9)]`, `[repeat("x" * 1e6 + ".")]`, `"x" * 5e8 | [., .] | map(explode)`, `[range(64) | "x" * 1e8] | add`,
		`reduce range(34) as $i ("x"; . + .)`, `reduce range(40) as $i ([1]; [., .]) | tojson`, `"a" * 1e8 | [match("a"; "g")]`,
		`"x" * 5e8 | @base64 | @base64 | @base64`, `"x," * 2e8 | split(",")`, `def f: [f]; f`,
	} {
		t.Run(src, func(t *testing.T) {
			p, err := Compile(src)
			require.NoError(t, err)
			_, err = p.Run(t.Context(), []byte(`"x"`), 1<<16)
			require.ErrorIs(t, err, ErrMemory)
		})
	}
	require.EqualError(t, ErrMemory, "the program takes more than 512 MiB of memory; let it choose less, or make fewer lists and texts")
}

// TestLastWords: the runtime dies in many ways where memory ends; a panic is not one of them.
func TestLastWords(t *testing.T) {
	t.Parallel()
	for words, memory := range map[string]bool{
		"fatal error: runtime: out of memory":                                              true,
		"runtime: cannot allocate memory":                                                  true,
		"SIGSEGV: segmentation violation\nPC=0x7f sigcode=1":                               true,
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: …": true,
		"panic: runtime error: index out of range [1] with length 1":                       false,
	} {
		cmd := exec.Command("sh", "-c", `printf %s "$0" >&2; exit 2`, words)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		require.Error(t, cmd.Run())
		require.Equal(t, memory, runtimeDied(cmd.ProcessState, errs.Bytes()), words)
	}
}

// TestTimeIsBounded: a program that only computes ends with its context.
func TestTimeIsBounded(t *testing.T) {
	t.Parallel()
	for _, src := range []string{`def f: f; f`, `last(range(1e15))`, `until(false; .)`} {
		p, err := Compile(src)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err = p.Run(ctx, []byte(`null`), 1<<16)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded, src)
	}
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	for _, src := range []string{`.`, `.[]`, `range(1e9)`, `. as $x | $x`, `"x" * 1e6`} {
		p, err := Compile(src)
		require.NoError(t, err)
		_, err = p.Run(t.Context(), []byte(`["`+strings.Repeat("x", 1<<17)+`"]`), 1<<16)
		require.ErrorIs(t, err, ErrOutput, src)
	}
}

// TestChildSeesNothing: no variable of this process reaches the program's.
func TestChildSeesNothing(t *testing.T) {
	t.Setenv("WINDLASS_TEST_SECRET", "hunter22")
	for _, src := range []string{`env | tostring`, `$ENV | tostring`} {
		p, err := Compile(src)
		require.NoError(t, err)
		text, err := p.Run(t.Context(), []byte(`null`), 1<<16)
		require.NoError(t, err)
		require.Equal(t, "{}", text)
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	_, err := Compile(strings.Repeat("[", 1<<20))
	require.EqualError(t, err, "the program has 1048576 bytes, more than the limit of 16384")
	_, err = Compile(`.[`)
	var syntax *gojq.ParseError
	require.ErrorAs(t, err, &syntax)
}

// TestWeightsHold: what a program of known weight makes is no larger than its weight says. Paths
// that share what they choose are the hard case.
func TestWeightsHold(t *testing.T) {
	t.Parallel()
	double := strings.TrimSuffix(strings.Repeat(`{a: ., b: .} | `, 12), " | ")
	for _, src := range []string{double, strings.TrimSuffix(strings.Repeat(`[., .] | `, 12), " | "), strings.TrimSuffix(strings.Repeat(`(., .) | `, 12), " | ")} {
		p, err := Compile(src)
		require.NoError(t, err)
		require.GreaterOrEqual(t, p.weight, 1<<12)
		text, err := evaluate(t.Context(), p.code, []byte(`1`), 1<<20)
		require.NoError(t, err)
		require.Equal(t, 1<<12, strings.Count(text, "1"))
	}
	p, err := Compile(double + " | " + double)
	require.NoError(t, err)
	require.Zero(t, p.weight)
}

func BenchmarkHere(b *testing.B)  { bench(b, `.items[] | {id, name}`) }
func BenchmarkApart(b *testing.B) { bench(b, `.items | map(.id) | add`) }

func bench(b *testing.B, src string) {
	b.Helper()
	p, err := Compile(src)
	require.NoError(b, err)
	for b.Loop() {
		_, err := p.Run(b.Context(), []byte(sample), 1<<16)
		require.NoError(b, err)
	}
}
