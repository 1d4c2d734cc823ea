// Command zchost talks to language models through sandboxed plugins, on a
// journal that survives. Each command is in the file of its name; this one
// parses the command line, runs the command and tells its error.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

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
	Turns      turnsCmd      `cmd:"" help:"List turns, the latest first."`
	Why        whyCmd        `cmd:"" help:"Explain what happened in a turn and why."`
	Usage      usageCmd      `cmd:"" help:"Add up attempts and tokens."`
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
	err := a.dispatch(ctx, args)
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
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(a),
	)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "build the command line", "")
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err := parser.Parse(args)
	if err != nil {
		return fault.New(fault.Usage, err.Error(), "zchost --help lists the commands")
	}
	a.configPath = c.Config
	if a.home, err = homeDir(c.Home); err != nil {
		return err
	}
	return k.Run()
}

// homeDir returns the home directory as an absolute path.
func homeDir(dir string) (string, error) {
	if dir == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fault.Wrap(err, fault.Home, "find the home directory", "name one with --home DIR or ZCHOST_HOME")
		}
		return filepath.Join(user, ".zchost"), nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fault.Wrap(err, fault.Home, "find the home directory", "name it by an absolute path")
	}
	return abs, nil
}
