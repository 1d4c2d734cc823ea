// Command zchost talks to language models through sandboxed plugins, on a
// journal that survives. Each command is in the file of its name; this one
// parses the command line, runs the command and tells its error.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/terminal"
)

// version is set by the linker (see Makefile).
var version = "dev"

func main() {
	os.Exit(run(os.Args[1:]))
}

// cli is the command line.
type cli struct {
	Home   string `help:"Directory of config, journal and plugins (default ~/.zchost)." env:"ZCHOST_HOME" type:"path" placeholder:"DIR"`
	Config string `help:"Config file (default config.toml in the home directory)." type:"path" placeholder:"FILE"`

	Chat       chatCmd       `cmd:"" help:"Talk to an agent."`
	Send       sendCmd       `cmd:"" help:"Send one message and print the answer."`
	Continue   continueCmd   `cmd:"" help:"Let the model go on with an answer that was interrupted."`
	Retry      retryCmd      `cmd:"" help:"Ask the message of a turn again, as if it had not been asked."`
	Discard    discardCmd    `cmd:"" help:"Drop the partial answer of a turn."`
	Turns      turnsCmd      `cmd:"" help:"List turns, the latest first."`
	Why        whyCmd        `cmd:"" help:"Explain what happened in a turn and why."`
	Usage      usageCmd      `cmd:"" help:"Add up attempts, tokens and prices."`
	Sessions   sessionsCmd   `cmd:"" help:"List sessions, or show one."`
	Plugin     pluginCmd     `cmd:"" help:"List and inspect plugins."`
	Config_    configCmd     `cmd:"" name:"config" help:"Show and check the config."`
	Init       initCmd       `cmd:"" help:"Write a commented first config."`
	Doctor     doctorCmd     `cmd:"" help:"Look for what is wrong and say how to put it right."`
	Failpoints failpointsCmd `cmd:"" help:"List the steps at which a test build can be killed."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Completion completionCmd `cmd:"" help:"Print a script that completes command lines."`
}

// exitError ends the program with a code; what there was to tell is told.
type exitError int

func (exitError) Error() string { return "exit" }

// run runs a command line and returns the exit code.
func run(args []string) int {
	// A reader that goes away must not end a turn: writes then fail, and the
	// screen drops what nobody reads.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()

	a := &app{
		stdin:  os.Stdin,
		env:    os.Environ(),
		screen: terminal.NewScreen(os.Stdout, os.Stderr, os.Environ()),
	}
	code := a.code(a.dispatch(ctx, args))
	if err := a.screen.OutError(); err != nil {
		_ = a.screen.Complain("the output could not be written: "+err.Error(), "") // nor can more be done
		return terminal.ExitUsage
	}
	return code
}

// code returns the exit code of a command, and tells its error.
func (a *app) code(err error) int {
	var exit exitError
	switch {
	case err == nil:
		return terminal.ExitOK
	case errors.As(err, &exit):
		return int(exit)
	}
	_ = a.fail(err) // there is no other place to tell it
	return terminal.ExitUsage
}

// dispatch parses the command line and runs the command in it.
func (a *app) dispatch(ctx context.Context, args []string) error {
	var c cli
	parser, err := kong.New(&c,
		kong.Name("zchost"),
		kong.Description("Talk to language models through sandboxed plugins, on a journal that survives."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Writers(a.screen.Out, a.screen.Err),
		kong.NamedMapper("path", kong.MapperFunc(mapPath)),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(a),
	)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "build the command line", "")
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if slices.ContainsFunc(args, func(arg string) bool { return !utf8.ValidString(arg) }) {
		return fault.New(fault.Usage, "an argument is not valid UTF-8", "pipe other text through iconv to zchost send -")
	}
	k, err := parser.Parse(joinMessage(args))
	if err != nil {
		return fault.New(fault.Usage, err.Error(), "zchost --help lists the commands")
	}
	a.configPath = c.Config
	if a.home, err = homeDir(c.Home); err != nil && needsHome(k.Command()) {
		return err
	}
	return k.Run()
}

// needsHome reports whether a command looks into the home directory.
func needsHome(command string) bool {
	return !slices.Contains([]string{"version", "completion <shell>", "failpoints", "config schema"}, command)
}

// joinMessage makes -m and its text one argument, so that the text may begin
// with a hyphen.
func joinMessage(args []string) []string {
	var joined []string
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return append(joined, args[i:]...)
		case (arg == "-m" || arg == "--message") && i+1 < len(args):
			i++
			joined = append(joined, "--message="+args[i])
		default:
			joined = append(joined, arg)
		}
	}
	return joined
}

// mapPath reads a path: ~ is the user's home directory, and an empty path is
// none, where kong would take the working directory.
func mapPath(d *kong.DecodeContext, target reflect.Value) error {
	var path string
	if err := d.Scan.PopValueInto("path", &path); err != nil {
		return fmt.Errorf("read path: %w", err)
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		user, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("find ~: %w", err)
		}
		path = filepath.Join(user, rest)
	}
	if path != "" {
		abs, err := filepath.Abs(path)
		if err != nil {
			return fmt.Errorf("find %s: %w", path, err)
		}
		path = abs
	}
	if target.Kind() == reflect.Slice { // a flag that may be given several times
		target.Set(reflect.Append(target, reflect.ValueOf(path)))
		return nil
	}
	target.SetString(path)
	return nil
}

// homeDir returns the home directory: dir, or the default if it is empty.
func homeDir(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	user, err := os.UserHomeDir()
	if err == nil {
		dir, err = filepath.Abs(filepath.Join(user, ".zchost"))
	}
	if err != nil {
		return "", fault.Wrap(err, fault.Home, "find the home directory", "name one with --home DIR or ZCHOST_HOME")
	}
	return dir, nil
}
