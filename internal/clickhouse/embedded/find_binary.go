package embedded

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/fetch"
)

// The oldest clickhouse binary that the tables and settings of windlass work with.
const (
	minMajor = 25
	minMinor = 8
)

var versionPattern = regexp.MustCompile(`version (\d+)\.(\d+)[.\d]*`)

// findBinary looks for a clickhouse executable that is new enough.
func (c Config) findBinary(ctx context.Context) (Engine, error) {
	if runtime.GOOS == "windows" {
		return Engine{}, ErrUnsupported
	}
	path, err := fetch.LookPath(c.Path, "clickhouse")
	if err != nil {
		return Engine{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "local", "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return Engine{}, fmt.Errorf("ask %s for its version: %w", path, err)
	}
	if err := checkVersion(string(out)); err != nil {
		return Engine{}, fmt.Errorf("%s: %w", path, err)
	}
	return Engine{Kind: KindBinary, Path: path}, nil
}

// checkVersion reads the output of "clickhouse local --version".
func checkVersion(out string) error {
	m := versionPattern.FindStringSubmatch(out)
	if m == nil {
		return fmt.Errorf("its version cannot be read from %q", strings.TrimSpace(out))
	}
	major, _ := strconv.Atoi(m[1]) // digits by the pattern
	minor, _ := strconv.Atoi(m[2])
	if major < minMajor || major == minMajor && minor < minMinor {
		return fmt.Errorf("version %d.%d is too old, %d.%d or newer is needed", major, minor, minMajor, minMinor)
	}
	return nil
}
