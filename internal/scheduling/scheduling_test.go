package scheduling_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/triggers"
	"github.com/windlass-run/windlass/internal/scheduling"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var source = scheduling.Source{Cascade: "Nightly report (€)", File: "/srv/my cascades/report.json", Program: "/usr/bin/windlass", Image: "registry.example.com/windlass:1"}

var off = false

// hostile has what each of the formats gives a meaning of its own.
const hostile = "a'b\"c\\d $HOME $(id) ${x} %h `id` \n# x\t\u2028<&>;é"

var list = []triggers.Trigger{
	{Name: "night_ly", Type: triggers.Cron, Description: "every\nnight", Schedule: "30 2 * * *", Timezone: "Europe/Berlin", Inputs: map[string]any{"service": "checkout", "n": json.Number("1.50"), "x": hostile}},
	{Name: "Work", Type: triggers.Cron, Schedule: "*/15  8-17 * 1,12 1-5"},
	{Name: "either", Type: triggers.Cron, Schedule: "0 0 13 * 5"},
	{Name: "disabled", Type: triggers.Cron, Schedule: "0 0 * * *", Enabled: &off},
	{Name: "hook", Type: triggers.Webhook, SecretEnv: "S"},
}

func TestExport(t *testing.T) {
	t.Parallel()
	for _, format := range scheduling.Formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			text, err := scheduling.Export(format, source, list)
			require.NoError(t, err)
			golden := filepath.Join("testdata", format+".golden")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(text), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), text)
		})
	}
}

func TestExportRefuses(t *testing.T) {
	t.Parallel()
	_, err := scheduling.Export("launchd", source, list)
	require.EqualError(t, err, `there is no format "launchd"`)
	_, err = scheduling.Export("cron", source, []triggers.Trigger{{Name: "x", Type: triggers.Cron, Schedule: "x"}})
	require.EqualError(t, err, "trigger x: it has 1 field")
}

// TestCrontabIsRun: a shell that gets a command as cron gives it sees the arguments as they are meant.
func TestCrontabIsRun(t *testing.T) {
	t.Parallel()
	show := filepath.Join(t.TempDir(), "show")
	require.NoError(t, os.WriteFile(show, []byte("#!/bin/sh\nprintf '%s\\036' \"$@\"\n"), 0o700))
	s := source
	s.Program = show
	text, err := scheduling.Export("cron", s, list[:1])
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	require.Len(t, lines, 3)
	require.Equal(t, "CRON_TZ=Europe/Berlin", lines[1])
	command := strings.SplitN(lines[2], " ", 6)[5]
	out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", strings.ReplaceAll(command, `\%`, "%")).Output()
	require.NoError(t, err)
	args := strings.Split(strings.TrimSuffix(string(out), "\x1e"), "\x1e")
	require.Equal(t, []string{"run", "/srv/my cascades/report.json", "--progress", "plain", "--input-json"}, args[:5])
	require.JSONEq(t, `{"service": "checkout", "n": 1.50, "x": `+quoted(hostile)+`}`, args[5])
}

func TestCronJobIsYAML(t *testing.T) {
	t.Parallel()
	text, err := scheduling.Export("kubernetes", source, list[:1])
	require.NoError(t, err)
	var job struct {
		Metadata struct{ Name string }
		Spec     struct {
			TimeZone    string `yaml:"timeZone"`
			JobTemplate struct {
				Spec struct {
					Template struct {
						Spec struct {
							Containers []struct{ Args []string }
						}
					}
				}
			} `yaml:"jobTemplate"`
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(text), &job))
	require.Equal(t, "windlass-nightly-report-night-ly", job.Metadata.Name)
	require.Equal(t, "Europe/Berlin", job.Spec.TimeZone)
	args := job.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args
	require.JSONEq(t, `{"service": "checkout", "n": 1.50, "x": `+quoted(hostile)+`}`, strings.ReplaceAll(args[5], "$$(", "$("))
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestNamesAreShort(t *testing.T) {
	t.Parallel()
	s := source
	s.Cascade = strings.Repeat("long-", 30)
	text, err := scheduling.Export("kubernetes", s, []triggers.Trigger{{Name: strings.Repeat("n", 40), Type: triggers.Cron, Schedule: "0 0 * * *"}})
	require.NoError(t, err)
	require.Contains(t, text, `name: "windlass-lo-`+strings.Repeat("n", 40)+"\"\n")
}
