import { followBehaviour } from "./hostFollowBodies";
import { makeLocal } from "./localHost";

followBehaviour("busybox", "/usr/bin/busybox", makeLocal(), "/usr/bin/busybox");
