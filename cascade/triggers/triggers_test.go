package triggers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/triggers"
)

func TestNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schedule, zone, after string
		want                  []string
	}{
		"in its zone":                {"30 2 * * *", "Europe/Berlin", "2026-01-01T00:00:00Z", []string{"2026-01-01T02:30:00+01:00", "2026-01-02T02:30:00+01:00"}},
		"an hour that is left out":   {"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-30T02:30:00+02:00"}},
		"either day":                 {"0 0 13 * FRI", "", "2026-02-01T00:00:00Z", []string{"2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"}},
		"steps":                      {"*/20 0-1 1 1,7 *", "UTC", "2026-06-01T00:00:00Z", []string{"2026-07-01T00:00:00Z", "2026-07-01T00:20:00Z"}},
		"leap day":                   {"0 0 29 2 *", "", "2026-01-01T00:00:00Z", []string{"2028-02-29T00:00:00Z"}},
		"more white space":           {"  0\t6  * * 1-5 ", "", "2026-11-20T07:00:00Z", []string{"2026-11-23T06:00:00Z"}},
		"Sunday is seven by a range": {"0 6 * * 0", "", "2026-11-20T07:00:00Z", []string{"2026-11-22T06:00:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			times, err := (&triggers.Trigger{Schedule: c.schedule, Timezone: c.zone}).Times()
			require.NoError(t, err)
			at, err := time.Parse(time.RFC3339, c.after)
			require.NoError(t, err)
			var got []string
			for range c.want {
				at = times.Next(at)
				got = append(got, at.Format(time.RFC3339))
			}
			require.Equal(t, c.want, got)
		})
	}
}

func FuzzTimes(f *testing.F) {
	for _, s := range []string{"0 6 * * 1-5", "TZ=", "TZ=UTC", "CRON_TZ=a b c d e", "@every 1s", "* * * * *", "*/0 * * * *", "1-0 * * * *", "? ? ? ? ?", "99999999999999999999 * * * *", "\x00 * * * *"} {
		f.Add(s, "UTC")
	}
	f.Add("* * * * *", "../../etc/passwd")
	f.Fuzz(func(t *testing.T, schedule, zone string) {
		trigger := triggers.Trigger{Schedule: schedule, Timezone: zone}
		times, err := trigger.Times()
		if err != nil {
			return
		}
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		require.True(t, times.Next(from).After(from))
	})
}
