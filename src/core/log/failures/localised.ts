import { missingProgramCause, missingProgramRemedy, programSubject } from "./programs";
import { group, rule, type FailureRule } from "./rule";

/**
 * What shells and coreutils say in other languages than English: their translations in bash 5 and coreutils 9 (German,
 * French, Spanish, Italian, Portuguese, Russian, Polish, Chinese, Japanese, Korean). Python, the tools of the field and
 * Slurm are not translated.
 */
const notFound = [
  ...["Kommando nicht gefunden", "Befehl nicht gefunden", "commande introuvable", "orden no encontrada"],
  ...["no se encontró la orden", "comando non trovato", "comando não encontrado", "команда не найдена"],
  ...["nie znaleziono polecenia", "未找到命令", "命令未找到", "找不到指令", "コマンドが見つかりません"],
  ...["명령어를 찾을 수 없음", "명령을 찾을 수 없음"],
];
const noFile = [
  ...["Datei oder Verzeichnis nicht gefunden", "Aucun fichier ou dossier de ce nom"],
  ...[
    "Aucun fichier ou dossier de ce type",
    "No existe el archivo o el directorio",
    "No existe el fichero o el directorio",
  ],
  ...["File o directory non esistente", "Arquivo ou diretório inexistente", "Нет такого файла или каталога"],
  ...["Nie ma takiego pliku ani katalogu", "没有那个文件或目录", "沒有此一檔案或目錄"],
  ...["そのようなファイルやディレクトリはありません", "그런 파일이나 디렉터리가 없습니다"],
];
const denied = [
  ...["Keine Berechtigung", "Permission non accordée", "Permiso denegado", "Permesso negato", "Permissão negada"],
  ...["Отказано в доступе", "Brak dostępu", "权限不够", "許可がありません", "허가 거부"],
];
const diskFull = [
  ...["Auf dem Gerät ist kein Speicherplatz mehr verfügbar", "Aucun espace disponible sur le périphérique"],
  ...["No queda espacio en el dispositivo", "Spazio esaurito sul device", "Não há espaço disponível no dispositivo"],
  ...["На устройстве не осталось свободного места", "设备上没有空间", "デバイスに空き領域がありません"],
];
const killed = [
  "Getötet",
  "Processus arrêté",
  "Terminado (killed)",
  "Убито",
  "已杀死",
  "已杀掉",
  "已砍掉",
  "強制終了",
  "죽었음",
];
const crashed = [
  ...["Speicherzugriffsfehler", "Erreur de segmentation", "Violación de segmento", "Errore di segmentazione"],
  ...["Falha de segmentação", "Ошибка сегментирования", "Naruszenie ochrony pamięci", "段错误", "記憶體區段錯誤"],
];

const oneOf = (texts: readonly string[]): string =>
  `(?:${texts.map((text) => text.replace(/[()]/g, "\\$&")).join("|")})`;
/** `./run.sh: Zeile 7: `, `bash: ligne 1 : `, `bash: 第 1 行：`, `-bash: `. */
const speaker = String.raw`[^\s:：'"]{1,200} ?[:：] ?(?:(?:Zeile|ligne|línea|riga|linha|строка|linia|行|줄|第) ?\d{1,5} ?行? ?[:：] ?)?`;
const quote = `["'‘’\x60“”„«»「」]{0,1} ?`;
const named = String.raw`${quote}(?<program>[^\s:：'"‘’“”«»]{1,200}) ?${quote}`;

/** Failures of shells in other languages. */
export const localisedRules: readonly FailureRule[] = [
  rule({
    failure: "command-not-found",
    permanent: true,
    needles: notFound,
    pattern: new RegExp(`^${speaker}${named} ?[:：] ?${oneOf(notFound)}[.。]{0,3}\\s*$`, "u"),
    cause: missingProgramCause,
    remedy: missingProgramRemedy,
    subject: programSubject,
  }),
  // `nohup: der Befehl „hf“ konnte nicht ausgeführt werden: Datei oder Verzeichnis nicht gefunden`
  rule({
    failure: "command-not-found",
    permanent: true,
    needles: noFile,
    pattern: new RegExp(
      `^(?:nohup|env|/usr/bin/env|timeout|setsid|nice|stdbuf|exec|time) ?[:：] ?[^'"‘“„«「:：]{0,60}${named}[^:：]{0,60}[:：] ?${oneOf(noFile)}\\s*$`,
      "u",
    ),
    cause: missingProgramCause,
    remedy: missingProgramRemedy,
    subject: programSubject,
  }),
  rule({
    failure: "file-not-found",
    permanent: true,
    needles: noFile,
    pattern: new RegExp(`^${speaker}(?:cd ?[:：] ?)?(?<program>[^\\s:：'"]{1,300}) ?[:：] ?${oneOf(noFile)}\\s*$`, "u"),
    unless: /^(?:ls|cat|rm|rmdir|stat|du|find|grep|wc|head|tail|touch|kill)\b/,
    cause: (captured) =>
      `The file or folder ${group(captured, "program")} does not exist, seen from the folder the job was started in.`,
    remedy: "Check the path and the job's working folder (`cwd`); a relative path counts from there.",
    subject: (captured) => ({ path: group(captured, "program") }),
  }),
  rule({
    failure: "permission",
    permanent: true,
    needles: denied,
    pattern: new RegExp(`^${speaker}.{0,300}[:：] ?${oneOf(denied)}\\s*$`, "u"),
    unless: /^(?:ls|find|du|rm)\b/,
    cause: "The job's user may not read, write or execute what the line names: permission denied.",
    remedy: "Look at the owner with `ls -l`; make a script executable (`chmod +x`), or use a folder of your own.",
  }),
  rule({
    failure: "disk-full",
    permanent: true,
    weight: 3,
    needles: diskFull,
    pattern: new RegExp(`^.{0,500}[:：] ?${oneOf(diskFull)}`, "u"),
    cause: "The disk is full: no space is left for what the job writes.",
    remedy:
      "Free space (old checkpoints, ~/.cache/huggingface, /tmp) or write elsewhere, then start it again; most downloads resume.",
  }),
  rule({
    failure: "killed-oom",
    needles: killed,
    pattern: new RegExp(`^(?:${speaker} {0,8}\\d+ )?${oneOf(killed)}(?: {2,}.{0,300})?\\s*$`, "u"),
    cause:
      "The process was killed from outside (signal 9), most often by the kernel because the host ran out of main memory.",
    remedy:
      "Look into `dmesg` or the cgroup's memory events; use fewer workers or smaller pieces, or ask for more memory (--mem).",
  }),
  rule({
    failure: "segfault",
    needles: crashed,
    pattern: new RegExp(`^(?:${speaker} {0,8}\\d+ )?${oneOf(crashed)}(?: .{0,300})?\\s*$`, "u"),
    cause:
      "The program crashed in native code (segmentation fault); its output is incomplete even if a script goes on.",
    remedy:
      "Run it with `python -X faulthandler` to see where; mostly a native package does not fit its libraries: reinstall the one that is named.",
  }),
];
