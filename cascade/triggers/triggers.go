// Package triggers has when a cascade is to begin: its triggers as a file has them, their own rules and the times of
// their schedules. Nothing here begins a run.
package triggers

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // the same time zones on every machine, also on one that has none

	"github.com/robfig/cron/v3"

	"github.com/windlass-run/windlass/internal/quantity"
)

// Trigger says when a cascade begins, and with which input.
type Trigger struct {
	Name        string         `json:"name"`
	Type        Type           `json:"type"`
	Description string         `json:"description,omitempty"`
	Enabled     *bool          `json:"enabled,omitempty"` // default true
	Inputs      map[string]any `json:"inputs,omitempty"`  // of the run, as it is

	Schedule string `json:"schedule,omitempty"` // cron: five fields
	Timezone string `json:"timezone,omitempty"` // cron: a name of the IANA database; default UTC

	File         string  `json:"file,omitempty"`          // sensor: a path, or a pattern with *
	URL          string  `json:"url,omitempty"`           // sensor: http or https
	EverySeconds float64 `json:"every_seconds,omitempty"` // sensor: how often it looks; default 60

	SecretEnv string `json:"secret_env,omitempty"` // webhook: the variable with the secret that a request has to know
}

// Type says what begins a run.
type Type string

// The types of triggers.
const (
	Cron    Type = "cron"    // times
	Sensor  Type = "sensor"  // a file that is there or changes, or an address whose answer changes
	Webhook Type = "webhook" // a request of another program
	Manual  Type = "manual"  // a person
)

// DefaultEvery is how often a sensor looks that does not say how often, in seconds.
const DefaultEvery = 60

// IsEnabled reports whether a trigger is to act.
func (t *Trigger) IsEnabled() bool { return t.Enabled == nil || *t.Enabled }

// Unit returns the name as units of systemd and objects of Kubernetes have it: in lower case, with - for _, and without
// one at the end.
func (t *Trigger) Unit() string {
	return strings.TrimRight(strings.ReplaceAll(strings.ToLower(t.Name), "_", "-"), "-")
}

// Every returns how often a sensor looks, in seconds.
func (t *Trigger) Every() float64 { return cmp.Or(t.EverySeconds, DefaultEvery) }

// Zone returns the name of the time zone of a schedule.
func (t *Trigger) Zone() string { return cmp.Or(t.Timezone, "UTC") }

// Times are the times of a schedule: bit n of a field is set when the value n belongs to it.
type Times struct {
	Minutes, Hours, Days, Months, Weekdays uint64
	EveryDay, EveryWeekday                 bool // the field is *: where one of both is not, that one alone counts, else either

	schedule cron.Schedule
	zone     *time.Location
}

// star is the bit by which the parser says that a field is *.
const star = 1 << 63

var fields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// parts are the fields of a schedule, in their order.
var parts = []struct {
	name     string
	from, to int
}{{"minute", 0, 59}, {"hour", 0, 23}, {"day of the month", 1, 31}, {"month", 1, 12}, {"day of the week", 0, 6}}

// wrongField says which field of a schedule is wrong.
func wrongField(schedule string) string {
	written := strings.Fields(schedule)
	for i, p := range parts {
		one := []string{"*", "*", "*", "*", "*"}
		one[i] = written[i]
		if _, err := fields.Parse(strings.Join(one, " ")); err != nil {
			return fmt.Sprintf("%q is no %s, which goes from %d to %d", written[i], p.name, p.from, p.to)
		}
	}
	return "it cannot be read"
}

// ScheduleError says why a schedule has no times.
type ScheduleError struct{ Why, Hint string }

func (e *ScheduleError) Error() string { return e.Why }

// Times returns the times of a schedule. The error is a [*ScheduleError], or one of the time zone: [*ZoneError].
func (t *Trigger) Times() (*Times, error) {
	zone, err := t.zone()
	if err != nil {
		return nil, err
	}
	n := len(strings.Fields(t.Schedule))
	why := "it has " + quantity.Of(n, "field")
	if strings.Contains(t.Schedule, "TZ=") { // which the parser takes for a time zone
		n, why = 0, "it has a time zone"
	}
	if n != 5 {
		return nil, &ScheduleError{why, `write five: minute, hour, day of the month, month, day of the week, as "0 6 * * 1-5"; the time zone is "timezone"`}
	}
	parsed, err := fields.Parse(strings.Join(strings.Fields(t.Schedule), " "))
	spec, ok := parsed.(*cron.SpecSchedule)
	if err != nil || !ok {
		return nil, &ScheduleError{wrongField(t.Schedule), `write numbers, ranges as 1-5, steps as */15, lists as 1,15, or * for all; months and weekdays may be names, as MON`}
	}
	spec.Location = zone
	out := &Times{
		Minutes: spec.Minute &^ star, Hours: spec.Hour &^ star, Days: spec.Dom &^ star, Months: spec.Month &^ star, Weekdays: spec.Dow &^ star,
		EveryDay: spec.Dom&star != 0, EveryWeekday: spec.Dow&star != 0, schedule: spec, zone: zone,
	}
	if out.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() { // in a leap year: every day of a year is near
		return nil, &ScheduleError{"there is no such time", "look at the day and the month"}
	}
	return out, nil
}

// Next returns the first time after another, in the time zone of the schedule.
func (t *Times) Next(after time.Time) time.Time { return t.schedule.Next(after.In(t.zone)) }

// ZoneError says that there is no such time zone.
type ZoneError struct{ Zone string }

func (e *ZoneError) Error() string { return fmt.Sprintf("there is no time zone %q", e.Zone) }

func (t *Trigger) zone() (*time.Location, error) {
	name := t.Zone()
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // which is another one on each machine
		return nil, &ZoneError{name}
	}
	return zone, nil
}

// After returns at most n times after another one.
func (t *Times) After(at time.Time, n int) []time.Time {
	out := make([]time.Time, 0, n)
	for range n {
		if at = t.Next(at); at.IsZero() {
			break
		}
		out = append(out, at)
	}
	return out
}
