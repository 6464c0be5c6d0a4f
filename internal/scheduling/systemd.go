package scheduling

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/cascade/triggers"
)

// units writes a service that runs the cascade once, and the timer that starts it.
func units(b *strings.Builder, s *Source, t *triggers.Trigger, times *triggers.Times) {
	n := name(s, t)
	words := []string{systemdWord(s.Program)}
	for _, a := range s.arguments(t) {
		words = append(words, systemdWord(a))
	}
	description := strings.ReplaceAll(title(s, t), "%", "%%")
	fmt.Fprintf(b, "# %s.service\n[Unit]\nDescription=%s\n\n[Service]\nType=oneshot\nExecStart=%s\n\n", n, description, strings.Join(words, " "))
	fmt.Fprintf(b, "# %s.timer\n[Unit]\nDescription=%s\n\n[Timer]\n", n, description)
	for _, when := range calendars(times, t.Zone()) {
		fmt.Fprintf(b, "OnCalendar=%s\n", when)
	}
	b.WriteString("Persistent=true\n\n[Install]\nWantedBy=timers.target\n")
}

// systemdWord quotes a word of ExecStart, in which % begins a specifier, $ a variable and a backslash an escape.
func systemdWord(s string) string {
	quoted := strings.NewReplacer("%", "%%", "$", "$$", `\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(s)
	return `"` + quoted + `"`
}

// calendars returns the times as systemd writes them. A day of cron is one of the month or one of the week where both
// are restricted, and such a schedule has a line for each.
func calendars(t *triggers.Times, zone string) []string {
	clock := values(t.Hours, 0, 23, twoDigits) + ":" + values(t.Minutes, 0, 59, twoDigits) + ":00 " + zone
	months := values(t.Months, 1, 12, twoDigits)
	monthly := "*-" + months + "-" + values(t.Days, 1, 31, twoDigits) + " " + clock
	weekly := values(t.Weekdays, 0, 6, weekday) + " *-" + months + "-* " + clock
	switch {
	case t.EveryWeekday:
		return []string{monthly}
	case t.EveryDay:
		return []string{weekly}
	}
	return []string{monthly, weekly}
}

// values writes the values of a field, * where it has all of them.
func values(set uint64, from, to int, word func(int) string) string {
	if bits.OnesCount64(set) == to-from+1 {
		return "*"
	}
	var out []string
	for v := from; v <= to; v++ {
		if set&(1<<v) != 0 {
			out = append(out, word(v))
		}
	}
	return strings.Join(out, ",")
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

func weekday(n int) string {
	return [...]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}[n]
}
