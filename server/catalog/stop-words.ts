const ENGLISH =
  "a an the of to in on for with without my our your his her their its is are was were be been am being this that these those it and or but please can could would should shall may might will do does did done have has had i me we us you he she they them who whom whose what which when where why how at by from as into onto over under about up out off than then there here so if not no yes just only also too very some any each every let lets s t re ve ll d m need want like using use via per between after before while during until again already still now ever someone something anything anyone everything one ones";
const GERMAN =
  "der die das den dem des ein eine einen einem einer eines und oder im in am an auf aus bei mit von vom zu zum zur fur uber unter nach ist sind war wird werden wie was wer wo ich du er sie es wir ihr mir mich dich uns mein meine meinen dein deine bitte nicht auch noch alle alles kann konnen";
const FRENCH =
  "le la les l un une des du de d au aux dans sur pour par avec sans et ou est sont etre ce cette ces mon ma mes ton ta tes son sa ses notre nos votre vos je tu il elle nous vous ils que qui quoi dont ne pas plus en y se sous entre deux chez";
const SPANISH_PORTUGUESE_ITALIAN =
  "el los las lo uno unos unas al del y o u e es son esta este estos estas mi mis tu tus su sus con sin por para que quien como donde cual en se me te nos os do da dos das no na nos nas um uma uns umas ao aos com sem meu minha seu sua il i gli uno una di dei degli della delle dello nel nella sul sulla con per tra fra che chi mio mia suo sua dos entre";

/** Words that carry no wish of their own, in the languages that requests come in, folded. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [ENGLISH, GERMAN, FRENCH, SPANISH_PORTUGUESE_ITALIAN].join(" ").split(" "),
);
