package config
import ("testing";"fmt")
func TestSmoke(t *testing.T) {
 c, err := Load(Options{Path:"testdata/errors/ten.toml", Env: []string{"ZCHOST_LOG_LEVEL=debug","ZCHOST_LOG__LEVLE=debug","ZCHOST_PROVIDERS__OPENAI__OPTIONS__A__B=3"}})
 fmt.Println(err)
 fmt.Printf("%+v\n", c)
 c, err = Load(Options{})
 fmt.Printf("%+v %v\n", c, err)
}
