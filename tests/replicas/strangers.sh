# What a stranger does in a repository; Ada is the committer of everything.
ADA='Ada <ada@example.org>'
commit() { git add -A -f; git commit -q -m change --author "${1-Eve <eve@example.org>}"; }
put() { mkdir -p "$(dirname "$1")"; printf "$ORDER$2" > "$1"; }
attribute() {
    put "$FILE" "\r\n$1\r\n"; commit
    echo "*.md text $2" > .gitattributes; commit
}
submodule() {
    git init -q -b main ../other; (cd ../other; put "$2"; commit)
    git submodule add -q "$TOP/other" "$1"; commit
}
request() {
    git checkout -q -b request; put "$FILE"; commit "$1"; git update-ref refs/pull/1/head HEAD
    git checkout -q main; git branch -q -D request
}
