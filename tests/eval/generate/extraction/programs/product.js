const [n, k] = require("fs").readFileSync(0, "utf8").split(" ").map(Number);
console.log(n * k);
