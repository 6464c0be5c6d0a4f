package inspector_test

import (
	"os"
	"testing"

	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

func TestMain(m *testing.M) { os.Exit(clickhousetest.Main(m)) }
