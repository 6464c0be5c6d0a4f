package schemagen

import "github.com/windlass-run/windlass/cascade/triggers"

const (
	triggerName  = `^[A-Za-z][A-Za-z0-9_-]{0,39}$`
	variableName = `^[A-Za-z_][A-Za-z0-9_]*$`
	leastEvery   = "1"     // seconds
	mostEvery    = "86400" // seconds: a day
)

var triggerFields = map[string]field{
	"name":          {text: "The trigger's name, which tells it from the others.", pattern: triggerName, examples: []any{"nightly"}},
	"type":          {text: "What begins a run: times, a file or an address that changes, a request, or a person.", enum: []any{triggers.Cron, triggers.Sensor, triggers.Webhook, triggers.Manual}},
	"description":   {text: "What it is for."},
	"enabled":       {text: "Whether it is to act.", def: true},
	"inputs":        {text: "The input of the run, as it is: no templates.", examples: []any{map[string]any{"service": "checkout"}}},
	"schedule":      {text: "cron: five fields: minute, hour, day of the month, month, day of the week.", pattern: notEmpty, examples: []any{"0 6 * * 1-5"}},
	"timezone":      {text: "cron: the time zone, a name of the IANA database.", def: "UTC", pattern: notEmpty, examples: []any{"Europe/Berlin"}},
	"file":          {text: "sensor: a path, or a pattern with *, relative to the cascade's file. A run begins for each file that is new or has changed.", pattern: notEmpty, examples: []any{"incoming/*.csv"}},
	"url":           {text: "sensor: an http or https address. A run begins when its answer has changed.", pattern: notEmpty, examples: []any{"https://example.com/status"}},
	"every_seconds": {text: "sensor: how often it looks, in seconds.", def: triggers.DefaultEvery, min: leastEvery, max: mostEvery, examples: []any{300}},
	"secret_env":    {text: "webhook: the environment variable with the secret that a request has to know.", pattern: variableName, examples: []any{"DEPLOY_HOOK_SECRET"}},
}
